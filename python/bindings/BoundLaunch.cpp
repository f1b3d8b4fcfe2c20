// The base type of handles that `kernel.bind(...)` makes: one variant of a kernel, loaded on one device.
// SPDX-License-Identifier: MIT
//
// A call compares the classes of its run-time arguments with those that the variant is for; constants, options, globals
// and the launch table are not looked at. Arguments whose classes are new, hooks and errors are for the method
// `_launch_checked` of the class in Python.
#include "python/bindings/LaunchCall.h"

#include <cstddef>
#include <new>
#include <structmember.h>

namespace nereid::python {

namespace {
struct Bound {
  nb::object function, compiled, kernel;
  nb::object hooks;               ///< the function's list of hooks
  LoadedKernel *loaded = nullptr; ///< null where a launch is another package's
  SharedParameters parameters;
  nb::object constants;           ///< owner of the constants
  std::vector<PyObject *> values; ///< by parameter: the constant, or null
  std::vector<uint32_t> runtime;  ///< indices of the others
  Launches accepted;              ///< by the classes of the run-time arguments
};

struct BoundObject {
  PyObject_HEAD vectorcallfunc call;
  Bound *bound;
};
} // namespace

static Bound *boundOf(PyObject *self) { return reinterpret_cast<BoundObject *>(self)->bound; }

//--- Calls -------------------------------------------------------------------------------------

static bool bindHandleKeywords(LaunchCall &call, const Bound &bound) {
  static PyObject *streamName = PyUnicode_InternFromString("stream");
  const Py_ssize_t keywordCount = PyTuple_GET_SIZE(call.keywords);
  for (Py_ssize_t k = 0; k < keywordCount; ++k) {
    PyObject *name = PyTuple_GET_ITEM(call.keywords, k);
    const size_t at = findParameter(call.list(), name);
    if (at == call.list().size() && PyUnicode_Compare(name, streamName) == 0)
      call.stream = call.args[call.count + k];
    else if (at == call.list().size() || call.bound[at])
      return false;
    else
      call.bound[at] = call.args[call.count + k];
  }
  return true;
}

/// Fills `bound` and the key, which has the run-time arguments alone.
static bool bindRuntime(LaunchCall &call, const Bound &bound) {
  if (call.count > bound.runtime.size() || !call.reserve())
    return false;
  std::copy(bound.values.begin(), bound.values.end(), call.bound);
  for (size_t i = 0; i < call.count; ++i)
    call.bound[bound.runtime[i]] = call.args[i];
  if (call.keywords && !bindHandleKeywords(call, bound))
    return false;
  for (const uint32_t index : bound.runtime) {
    if (!call.bound[index])
      call.bound[index] = call.list()[index].defaultValue;
    if (!call.bound[index] || !call.key.addArgument(index, call.bound[index]))
      return false;
  }
  return true;
}

static FastPath launchHandle(const Bound &bound, PyObject *grid, LaunchCall &call, PyObject *&result) {
  if (!bound.loaded || slowLaunch.load(std::memory_order_acquire) || PyList_GET_SIZE(bound.hooks.ptr()))
    return FastPath::Fallback;
  if (!bindRuntime(call, bound))
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Fallback;
  if (!bound.accepted.find(call.key.text()))
    return FastPath::Miss;
  return launchTarget({bound.compiled.ptr(), bound.kernel.ptr(), bound.loaded, /*isFrozen=*/true}, grid, call, result);
}

/// Remembers that the variant is for arguments of these classes.
static void accept(Bound &bound, const LaunchCall &call) {
  constexpr size_t kMost = 256; // of one variant's classes there are few
  if (fits(*bound.loaded, call) && bound.accepted.size() < kMost)
    bound.accepted.insert(call.key.text(),
                          LaunchEntry(bound.compiled.ptr(), bound.kernel.ptr(), bound.loaded, call.key.identities()));
}

static PyObject *callBound(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  static PyObject *const methodName = PyUnicode_InternFromString("_launch_checked");
  Bound &bound = *boundOf(self);
  const auto given = static_cast<size_t>(PyVectorcall_NARGS(flags));
  const size_t gridCount = given ? 1 : 0;
  LaunchCall call(args + gridCount, given - gridCount, keywords);
  call.parameters = bound.parameters;
  PyObject *result = nullptr;
  const FastPath outcome = gridCount ? launchHandle(bound, args[0], call, result) : FastPath::Fallback;
  if (outcome == FastPath::Ok || outcome == FastPath::Failed)
    return result;
  result = callThroughPython(self, methodName, args, given, keywords, {});
  if (result && outcome == FastPath::Miss)
    accept(bound, call);
  return result;
}

/// `_accept(*args)`: the example arguments of `bind`.
static PyObject *acceptExample(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  Bound &bound = *boundOf(self);
  LaunchCall call(args, static_cast<size_t>(count), nullptr);
  call.parameters = bound.parameters;
  if (bound.loaded && bindRuntime(call, bound))
    accept(bound, call);
  else if (PyErr_Occurred())
    return nullptr;
  Py_RETURN_NONE;
}

//--- The type ----------------------------------------------------------------------------------

/// Sets the constants and the indices of the run-time parameters: `constants` has for each parameter a tuple with its
/// value, or None.
static bool readConstants(Bound &bound) {
  PyObject *constants = bound.constants.ptr();
  if (static_cast<size_t>(PyTuple_GET_SIZE(constants)) != bound.parameters->list.size())
    return PyErr_SetString(PyExc_ValueError, "`constants` has one entry for each parameter"), false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); ++i) {
    PyObject *entry = PyTuple_GET_ITEM(constants, i);
    const bool isConstant = PyTuple_Check(entry) && PyTuple_GET_SIZE(entry) == 1;
    bound.values.push_back(isConstant ? PyTuple_GET_ITEM(entry, 0) : nullptr);
    if (!isConstant)
      bound.runtime.push_back(static_cast<uint32_t>(i));
  }
  return true;
}

static std::unique_ptr<Bound> makeBound(PyObject *function, PyObject *compiled, PyObject *constants) {
  auto bound = std::make_unique<Bound>();
  bound->function = nb::borrow(function);
  bound->compiled = nb::borrow(compiled);
  bound->constants = nb::borrow(constants);
  bound->kernel = nb::steal(PyObject_GetAttrString(compiled, "function"));
  bound->hooks = nb::steal(PyObject_GetAttrString(function, "pre_run_hooks"));
  JitState *state = jitStateOf(function);
  if (!bound->kernel.is_valid() || !bound->hooks.is_valid() || !state->readParameters(function))
    return nullptr;
  bound->parameters = state->parameters;
  if (PyList_Check(bound->hooks.ptr()) && !state->takesRest)
    bound->loaded = loadedKernelOf(bound->kernel);
  return readConstants(*bound) ? std::move(bound) : nullptr;
}

static PyObject *createHandle(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *function = nullptr, *compiled = nullptr, *constants = nullptr;
  if (!PyArg_ParseTuple(args, "OOO!", &function, &compiled, &PyTuple_Type, &constants))
    return nullptr;
  if (!jitStateOf(function)) {
    PyErr_Format(PyExc_TypeError, "BoundLaunch takes a JITFunction, got `%s`", Py_TYPE(function)->tp_name);
    return nullptr;
  }
  std::unique_ptr<Bound> bound = makeBound(function, compiled, constants);
  PyObject *self = bound ? type->tp_alloc(type, 0) : nullptr;
  if (!self)
    return nullptr;
  reinterpret_cast<BoundObject *>(self)->call = callBound;
  reinterpret_cast<BoundObject *>(self)->bound = bound.release();
  return self;
}

static int traverseHandle(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  const Bound *bound = boundOf(self);
  if (!bound)
    return 0;
  for (const nb::object *object :
       {&bound->function, &bound->compiled, &bound->constants, &bound->kernel, &bound->hooks})
    Py_VISIT(object->ptr());
  int stopped = 0;
  const auto visitEntry = [&](const LaunchEntry &entry) -> int {
    Py_VISIT(entry.compiled);
    Py_VISIT(entry.kernel);
    for (PyObject *object : entry.identities)
      Py_VISIT(object);
    return 0;
  };
  bound->accepted.forEach([&](std::string_view, const LaunchEntry &entry) {
    if (!stopped)
      stopped = visitEntry(entry);
  });
  return stopped;
}

static void destroyHandle(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<BoundObject *>(self)->bound, nullptr);
  type->tp_free(self);
  Py_DECREF(type);
}

// A handle never changes, so every cycle through it contains an object that can be cleared.
static PyMemberDef handleMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, call), READONLY, nullptr},
    {},
};
static PyMethodDef handleMethods[] = {
    {"_accept", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(acceptExample)), METH_FASTCALL,
     "The variant is for run-time arguments of the classes of these."},
    {},
};
static PyType_Slot handleSlots[] = {
    {Py_tp_doc, const_cast<char *>("The native part of a handle: (function, compiled kernel, constants).")},
    {Py_tp_new, reinterpret_cast<void *>(createHandle)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyHandle)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseHandle)},
    {Py_tp_methods, handleMethods},
    {Py_tp_members, handleMembers},
    {},
};
static PyType_Spec handleSpec = {
    "triton._C.libtriton.BoundLaunch", sizeof(BoundObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, handleSlots};

void bindBoundLaunch(nb::module_ &module) { module.attr("BoundLaunch") = checked(PyType_FromSpec(&handleSpec)); }

} // namespace nereid::python
