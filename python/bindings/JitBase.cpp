// The base type of JITFunction, with its state outside of `__dict__`.
// SPDX-License-Identifier: MIT
#include "python/bindings/JitBase.h"

#include "python/bindings/Arrays.h"
#include "python/bindings/LaunchCall.h"
#include "python/bindings/PyHost.h"

#include <nanobind/stl/string_view.h>
#include <new>

namespace nereid::python {

std::atomic<bool> slowLaunch{false};
std::atomic<bool> keysStorageOfHost{false};
std::atomic<PyObject *> scratchProvider{nullptr};
static nb::ft_mutex settingProvider; ///< without a GIL: a reader takes its reference before the old one is dropped
std::atomic<uint64_t> launchEpoch{1};

static PyTypeObject *jitBaseType = nullptr; // owned by the module, set once

//--- Entries -----------------------------------------------------------------------------------

LaunchEntry::LaunchEntry(PyObject *compiled, PyObject *kernel, LoadedKernel *loaded,
                         const std::vector<PyObject *> &identities)
    : compiled(Py_NewRef(compiled)), kernel(Py_NewRef(kernel)), loaded(loaded), identities(identities) {
  for (PyObject *object : this->identities)
    Py_INCREF(object);
}

LaunchEntry::LaunchEntry(LaunchEntry &&other) noexcept
    : compiled(std::exchange(other.compiled, nullptr)), kernel(std::exchange(other.kernel, nullptr)),
      loaded(other.loaded), identities(std::move(other.identities)) {
  other.identities.clear();
}

LaunchEntry::~LaunchEntry() {
  Py_XDECREF(compiled);
  Py_XDECREF(kernel);
  for (PyObject *object : identities)
    Py_DECREF(object);
}

//--- State -------------------------------------------------------------------------------------

JitState::~JitState() { Py_CLEAR(watch); }

LaunchParameters::~LaunchParameters() {
  for (const LaunchParameter &parameter : list) {
    Py_DECREF(parameter.name);
    Py_XDECREF(parameter.defaultValue);
  }
}

static LaunchParameter parameterOf(nb::handle param) {
  auto attribute = [&](const char *name) { return checked(PyObject_GetAttrString(param.ptr(), name)); };
  const bool isConstexpr = isTrue(attribute("is_constexpr"));
  const bool hasDefault = isTrue(attribute("has_default"));
  PyObject *name = attribute("name").release().ptr();
  PyUnicode_InternInPlace(&name);
  return {name, isConstexpr, hasDefault ? attribute("default").release().ptr() : nullptr};
}

bool JitState::readParameters(PyObject *function) {
  if (parameters)
    return true;
  const llvm::IntrusiveRefCntPtr<LaunchParameters> created(new LaunchParameters);
  try {
    nb::object params = checked(PyObject_GetAttrString(function, "params"));
    params = checked(PySequence_Tuple(params.ptr()));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(params.ptr()); ++i) {
      nb::handle param = PyTuple_GET_ITEM(params.ptr(), i);
      created->list.push_back(parameterOf(param));
      nb::object variadic = attributeOrNull(param, "is_variadic");
      takesRest |= variadic.is_valid() && isTrue(variadic);
    }
    parameters = created;
    return true;
  } catch (nb::python_error &error) {
    error.restore();
    return false;
  }
}

Launches &JitState::currentLaunches() {
  const uint64_t now = launchEpoch.load(std::memory_order_acquire);
  if (!launches || epoch != now || launches->size() >= maxLaunchKeys) {
    launches = std::make_unique<Launches>();
    epoch = now;
  }
  return *launches;
}

bool JitState::watchHolds() const {
  if (!watch)
    return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(watch); ++i) {
    PyObject *entry = PyTuple_GET_ITEM(watch, i);
    PyObject *now = PyDict_GetItemWithError(PyTuple_GET_ITEM(entry, 0), PyTuple_GET_ITEM(entry, 1));
    if (now != PyTuple_GET_ITEM(entry, 2)) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

nb::object currentScratchProvider() {
  const nb::ft_lock_guard lock(settingProvider);
  return nb::borrow(scratchProvider.load());
}

JitState *jitStateOf(PyObject *object) {
  return PyObject_TypeCheck(object, jitBaseType) ? reinterpret_cast<JitBaseObject *>(object)->state : nullptr;
}

bool isJitFunction(nb::handle object) { return PyObject_TypeCheck(object.ptr(), jitBaseType); }

//--- The type ----------------------------------------------------------------------------------

static JitState &stateOf(PyObject *self) { return *reinterpret_cast<JitBaseObject *>(self)->state; }

static PyObject *create(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (!self)
    return nullptr;
  auto *state = new (std::nothrow) JitState();
  if (!state) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  reinterpret_cast<JitBaseObject *>(self)->state = state;
  return self;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  JitState *state = reinterpret_cast<JitBaseObject *>(self)->state;
  if (!state)
    return 0;
  Py_VISIT(state->watch);
  if (state->parameters && state->parameters.useCount() == 1) // a running call has its own share
    for (const LaunchParameter &parameter : state->parameters->list)
      Py_VISIT(parameter.defaultValue);
  int stopped = 0;
  auto visitEntry = [&](std::string_view, const LaunchEntry &entry) -> int {
    Py_VISIT(entry.compiled);
    Py_VISIT(entry.kernel);
    for (PyObject *object : entry.identities)
      Py_VISIT(object);
    return 0;
  };
  if (state->launches)
    state->launches->forEach([&](std::string_view key, const LaunchEntry &entry) {
      if (!stopped)
        stopped = visitEntry(key, entry);
    });
  return stopped;
}

static int clear(PyObject *self) {
  JitState *state = reinterpret_cast<JitBaseObject *>(self)->state;
  if (!state)
    return 0;
  Py_CLEAR(state->watch);
  auto launches = std::move(state->launches);
  return 0;
}

static void destroy(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<JitBaseObject *>(self)->state, nullptr);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *clearLaunches(PyObject *self, PyObject *) {
  JitState &state = stateOf(self);
  std::unique_ptr<Launches> launches; // their destruction may run Python code, as may that of default values
  SharedParameters parameters;
  NEREID_BEGIN_STATE(self);
  launches = std::move(state.launches);
  parameters = std::move(state.parameters);
  NEREID_END_STATE();
  launches.reset();
  parameters.reset();
  Py_RETURN_NONE;
}

static PyObject *getSlow(PyObject *self, void *) { return PyBool_FromLong(stateOf(self).slow); }

static int setSlow(PyObject *self, PyObject *value, void *) {
  const int truth = value ? PyObject_IsTrue(value) : 0;
  if (truth < 0)
    return -1;
  stateOf(self).slow = truth;
  return 0;
}

static PyObject *getWatch(PyObject *self, void *) {
  PyObject *watch = stateOf(self).watch;
  return Py_NewRef(watch ? watch : Py_None);
}

static bool isWatch(PyObject *value) {
  if (!PyTuple_Check(value))
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
    PyObject *entry = PyTuple_GET_ITEM(value, i);
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 3 || !PyDict_Check(PyTuple_GET_ITEM(entry, 0)))
      return false;
  }
  return true;
}

static int setWatch(PyObject *self, PyObject *value, void *) {
  if (value && value != Py_None && !isWatch(value)) {
    PyErr_SetString(PyExc_TypeError, "_c_watch must be None or a tuple of (dict, name, value)");
    return -1;
  }
  JitState &state = stateOf(self);
  PyObject *old = value && value != Py_None ? Py_NewRef(value) : nullptr;
  NEREID_BEGIN_STATE(self);
  std::swap(state.watch, old);
  NEREID_END_STATE();
  Py_XDECREF(old);
  return 0;
}

static PyMethodDef methods[] = {
    {"warmup", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(warmup)), METH_FASTCALL | METH_KEYWORDS,
     "warmup($self, /, *args, grid, **kwargs)\n--\n\nCompiles for these arguments without launching; torch dtypes "
     "replace tensors."},
    {"_c_expect", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(expectLaunch)), METH_FASTCALL | METH_KEYWORDS,
     "_c_expect($self, compiled, /, *args, **kwargs)\n--\n\nLaunches with such arguments will run this loaded "
     "kernel; False where they go through `run`."},
    {"_c_clear", clearLaunches, METH_NOARGS, "Forgets which kernels launches have chosen."},
    {},
};
static PyGetSetDef properties[] = {
    {"_c_slow", getSlow, setSlow, "Every launch goes through `run`.", nullptr},
    {"_c_watch", getWatch, setWatch, "Globals that must still be what they were.", nullptr},
    {},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("The native part of a JITFunction.")},
    {Py_tp_new, reinterpret_cast<void *>(create)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_mp_subscript, reinterpret_cast<void *>(makeLauncher)},
    {},
};
static PyType_Spec spec = {"triton._C.libtriton.JITBase", sizeof(JitBaseObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

void bindJit(nb::module_ &module) {
  nb::object type = checked(PyType_FromSpec(&spec));
  jitBaseType = reinterpret_cast<PyTypeObject *>(type.ptr());
  module.attr("JITBase") = type;
  type.release(); // never freed: jitBaseType points to it
  makeLauncherType(module);
  module.def(
      "set_slow_launch", [](bool flag) { slowLaunch.store(flag, std::memory_order_release); }, nb::arg("flag"),
      "Every launch goes through Python while set.");
  module.def(
      "set_scratch_provider",
      [](nb::object provider) {
        PyObject *provided = provider.is_none() ? nullptr : provider.release().ptr(), *old;
        {
          const nb::ft_lock_guard lock(settingProvider);
          old = scratchProvider.exchange(provided);
        }
        Py_XDECREF(old);
      },
      nb::arg("provider").none(), "Sets the function that provides scratch memory for kernels.");
  module.def(
      "key_storage_of_host",
      [] {
        keysStorageOfHost.store(true, std::memory_order_relaxed);
        launchEpoch.fetch_add(1, std::memory_order_acq_rel); // known keys lack the sizes
      },
      "From now on the sizes of host arrays' storages distinguish kernels.");
  module.def(
      "bump_epoch", [] { launchEpoch.fetch_add(1, std::memory_order_acq_rel); },
      "Makes every function forget which kernels its launches have chosen.");
  module.def(
      "set_active_device", [](std::string_view name) { setActiveKind(deviceNamed(name)); }, nb::arg("name"),
      "Says what the active driver's devices are called: \"cuda\" arrays of other libraries are on these.");
}

} // namespace nereid::python
