// `kernel.warmup(...)`: returns the kernel that an earlier call has compiled for such arguments, else compiles it.
// SPDX-License-Identifier: MIT
//
// Its keys are in the table of the launches, with a suffix that no launch's key has. A kernel found here need not be
// loaded.
#include "python/bindings/LaunchCall.h"

#include <algorithm>

namespace nereid::python {

/// The device that work without arrays on a GPU goes to: that of the active driver.
static bool addActiveDevice(LaunchCall &call) {
  static PyObject *const activeName = PyUnicode_InternFromString("active");
  static PyObject *const deviceName = PyUnicode_InternFromString("get_current_device");
  nb::object active = nb::steal(PyObject_GetAttr(launchRuntime()->driver, activeName));
  nb::object device = active.is_valid() ? nb::steal(PyObject_CallMethodNoArgs(active.ptr(), deviceName)) : nb::object();
  PyErr_Clear(); // Python calls it again, and raises the error
  return device.is_valid() && PyLong_CheckExact(device.ptr()) && call.key.addConstant(device.ptr());
}

/// Adds what the arguments do not tell: which device the kernel is compiled for.
static bool addDevice(LaunchCall &call) {
  const DeviceKind kind = call.key.device();
  if (!call.key.addSuffix('W'))
    return false;
  if (kind == DeviceKind::Unknown || kind == DeviceKind::Cpu)
    return addActiveDevice(call);
  const int32_t current = currentDevice(kind); // Python decides between several
  return std::ranges::all_of(call.key.arrays(), [&](const auto &array) { return array.ordinal == current; });
}

static FastPath findKnown(PyObject *function, JitState &state, LaunchCall &call, PyObject *&result) {
  if (goesThroughPython(function, state))
    return FastPath::Fallback;
  if (!bindCall(call) || call.stream || !addDevice(call))
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Fallback;
  const LaunchEntry *entry = state.currentLaunches().find(call.key.text());
  if (!entry)
    return FastPath::Miss;
  result = Py_NewRef(entry->compiled);
  return FastPath::Ok;
}

static void rememberWarmup(JitState &state, const LaunchCall &call, PyObject *compiled, uint64_t epoch) {
  const bool isCompiled =
      compiled != Py_None && reinterpret_cast<PyObject *>(Py_TYPE(compiled)) != launchRuntime()->futureClass;
  if (isCompiled && epoch == launchEpoch.load(std::memory_order_acquire) && state.parameters == call.parameters)
    state.currentLaunches().insert(call.key.text(), LaunchEntry(compiled, Py_None, nullptr, call.key.identities()));
}

bool expectWarmup(PyObject *self, JitState &state, LaunchCall &call, PyObject *compiled, uint64_t epoch) {
  call.isWarmup = true;
  call.key.takeStandIns();
  if (goesThroughPython(self, state) || !bindCall(call) || call.stream || !addDevice(call))
    return false;
  rememberWarmup(state, call, compiled, epoch);
  return true;
}

PyObject *warmup(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static PyObject *const methodName = PyUnicode_InternFromString("_compile_only");
  JitState *state = jitStateOf(self);
  LaunchCall call(args, static_cast<size_t>(count), keywords);
  call.isWarmup = true;
  call.key.takeStandIns();
  const uint64_t epoch = launchEpoch.load(std::memory_order_acquire);
  PyObject *result = nullptr;
  FastPath outcome = FastPath::Failed;
  NEREID_BEGIN_STATE(self);
  if (state->readParameters(self)) {
    call.parameters = state->parameters;
    outcome = findKnown(self, *state, call, result);
  }
  NEREID_END_STATE();
  if (outcome == FastPath::Ok || outcome == FastPath::Failed)
    return result;
  result = callThroughPython(self, methodName, args, call.count, keywords, {});
  if (result && outcome == FastPath::Miss) {
    NEREID_BEGIN_STATE(self);
    rememberWarmup(*state, call, result, epoch);
    NEREID_END_STATE();
  }
  return result;
}

} // namespace nereid::python
