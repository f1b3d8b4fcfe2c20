// `kernel[grid](...)`: finds the kernel that earlier launches with such arguments chose, packs the arguments and runs
// it.
// SPDX-License-Identifier: MIT
//
// A launch whose key is known makes no Python call except the grid's. Everything else goes through JITFunction.run,
// whose kernel is then stored under the key.
#include "python/bindings/LaunchCall.h"

#include <cstddef>
#include <structmember.h>

namespace nereid::python {

namespace {
struct LauncherObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function;
  PyObject *grid;
};
} // namespace

//--- Launching ---------------------------------------------------------------------------------

static FastPath launchFast(LauncherObject &launcher, JitState &state, LaunchCall &call, PyObject *&result) {
  if (goesThroughPython(launcher.function, state))
    return FastPath::Fallback;
  if (!bindCall(call))
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Fallback;
  const LaunchEntry *entry = state.currentLaunches().find(call.key.text());
  return entry ? launchTarget({entry->compiled, entry->kernel, entry->loaded}, launcher.grid, call, result)
               : FastPath::Miss;
}

static void remember(JitState &state, const LaunchCall &call, PyObject *compiled, uint64_t epoch) {
  if (compiled == Py_None || epoch != launchEpoch.load(std::memory_order_acquire) ||
      state.parameters != call.parameters)
    return;
  PyObject *kernel = PyObject_GetAttrString(compiled, "function");
  if (!kernel) {
    PyErr_Clear();
    return;
  }
  LoadedKernel *loaded = loadedKernelOf(kernel);
  if (loaded && fits(*loaded, call))
    state.currentLaunches().insert(call.key.text(), LaunchEntry(compiled, kernel, loaded, call.key.identities()));
  Py_DECREF(kernel);
}

static PyObject *launchThroughPython(LauncherObject &launcher, PyObject *const *args, size_t count,
                                     PyObject *keywords) {
  static PyObject *runName = PyUnicode_InternFromString("run");
  static PyObject *gridName = PyUnicode_InternFromString("grid");
  static PyObject *warmupName = PyUnicode_InternFromString("warmup");
  return callThroughPython(launcher.function, runName, args, count, keywords,
                           {{gridName, launcher.grid}, {warmupName, Py_False}});
}

static PyObject *launch(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  auto &launcher = *reinterpret_cast<LauncherObject *>(self);
  JitState *state = jitStateOf(launcher.function);
  LaunchCall call(args, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords);
  const uint64_t epoch = launchEpoch.load(std::memory_order_acquire);
  PyObject *result = nullptr;
  FastPath outcome = FastPath::Failed;
  NEREID_BEGIN_STATE(launcher.function);
  if (state->readParameters(launcher.function)) {
    call.parameters = state->parameters;
    outcome = launchFast(launcher, *state, call, result);
  }
  NEREID_END_STATE();
  if (outcome == FastPath::Ok || outcome == FastPath::Failed)
    return result;
  result = launchThroughPython(launcher, args, call.count, keywords);
  if (result && outcome == FastPath::Miss) {
    NEREID_BEGIN_STATE(launcher.function);
    remember(*state, call, result, epoch);
    NEREID_END_STATE();
  }
  return result;
}

/// False where Python handles such launches.
static bool expectKnown(PyObject *self, JitState &state, LaunchCall &call, PyObject *compiled, uint64_t epoch) {
  if (goesThroughPython(self, state) || !bindCall(call) || call.stream)
    return false;
  remember(state, call, compiled, epoch);
  return state.currentLaunches().find(call.key.text()) != nullptr;
}

PyObject *expectLaunch(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  if (count < 1)
    return PyErr_SetString(PyExc_TypeError, "_c_expect takes a compiled kernel and a launch's arguments"), nullptr;
  JitState *state = jitStateOf(self);
  const size_t given = static_cast<size_t>(count) - 1;
  LaunchCall call(args + 1, given, keywords), warmup(args + 1, given, keywords);
  const uint64_t epoch = launchEpoch.load(std::memory_order_acquire);
  bool isKnown = false;
  NEREID_BEGIN_STATE(self);
  if (state->readParameters(self)) {
    call.parameters = warmup.parameters = state->parameters;
    isKnown = expectKnown(self, *state, call, args[0], epoch) && expectWarmup(self, *state, warmup, args[0], epoch);
  }
  NEREID_END_STATE();
  return PyErr_Occurred() ? nullptr : PyBool_FromLong(isKnown);
}

//--- The type ----------------------------------------------------------------------------------

static PyTypeObject *launcherType = nullptr; // owned by the module, set once

PyObject *makeLauncher(PyObject *function, PyObject *grid) {
  auto *self = PyObject_GC_New(LauncherObject, launcherType);
  if (!self)
    return nullptr;
  self->call = launch;
  self->function = Py_NewRef(function);
  self->grid = Py_NewRef(grid);
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject *>(self);
}

static PyObject *createLauncher(PyObject *, PyObject *const *args, size_t flags, PyObject *keywords) {
  if (PyVectorcall_NARGS(flags) != 2 || keywords) {
    PyErr_SetString(PyExc_TypeError, "Launcher takes a JITFunction and a grid");
    return nullptr;
  }
  if (!jitStateOf(args[0])) {
    PyErr_Format(PyExc_TypeError, "Launcher takes a JITFunction, got `%s`", Py_TYPE(args[0])->tp_name);
    return nullptr;
  }
  return makeLauncher(args[0], args[1]);
}

static PyObject *newLauncher(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  if (keywords && PyDict_GET_SIZE(keywords)) {
    PyErr_SetString(PyExc_TypeError, "Launcher takes no keywords");
    return nullptr;
  }
  return createLauncher(reinterpret_cast<PyObject *>(type), reinterpret_cast<PyTupleObject *>(args)->ob_item,
                        PyTuple_GET_SIZE(args), nullptr);
}

static int traverseLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<LauncherObject *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launcher->function);
  Py_VISIT(launcher->grid);
  return 0;
}

static void destroyLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<LauncherObject *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(launcher->function);
  Py_DECREF(launcher->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// Every cycle through a launcher contains the kernel or its grid, which can be cleared; a launcher itself never
// changes, so it needs no tp_clear, as with tuples.
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, call), READONLY, nullptr},
    {"fn", T_OBJECT, offsetof(LauncherObject, function), READONLY, "The JITFunction."},
    {"grid", T_OBJECT, offsetof(LauncherObject, grid), READONLY, "The grid as given."},
    {},
};
static PyType_Slot typeSlots[] = {
    {Py_tp_doc, const_cast<char *>("`kernel[grid]`: call it with the kernel's arguments.")},
    {Py_tp_new, reinterpret_cast<void *>(newLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
    {Py_tp_members, members},
    {},
};
static PyType_Spec spec = {"triton._C.libtriton.Launcher", sizeof(LauncherObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, typeSlots};

PyTypeObject *makeLauncherType(nb::module_ &module) {
  module.def("set_launch_runtime", &setLaunchRuntime, nb::arg("run"), nb::arg("driver"), nb::arg("future_class"),
             "The `run` of JITFunction, which launches of known keys may leave out; what chooses the device; the class "
             "of kernels that are being compiled.");
  nb::object type = checked(PyType_FromSpec(&spec));
  auto *created = reinterpret_cast<PyTypeObject *>(type.ptr());
  created->tp_vectorcall = createLauncher; // no slot for it before Python 3.14
  launcherType = created;
  module.attr("Launcher") = type;
  type.release(); // never freed: launcherType points to it
  return created;
}

} // namespace nereid::python
