// `kernel[grid](...)` of a kernel with `triton.heuristics`: computes arguments from the others, and calls the launcher
// of what is decorated.
// SPDX-License-Identifier: MIT
#include "python/bindings/Python.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstddef>
#include <structmember.h>

namespace nereid::python {

namespace {
struct ComputedLauncherObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *launcher, *grid, *argNames, *values;
};

/// A call with computed keywords. It holds no nb::object across calls of Python code: Python ends daemon threads inside
/// of one, and unwinds this frame without the GIL.
struct ComputedCall {
  llvm::SmallVector<PyObject *, 64> stack; ///< arguments, then the values of the keywords; borrowed
  llvm::SmallVector<PyObject *, 16> names; ///< of the keywords; borrowed
  llvm::SmallVector<PyObject *, 16> owned;
  PyObject *all = nullptr; ///< a dict of the arguments by name

  bool add(PyObject *name, PyObject *rule);
  void release() {
    for (PyObject *object : owned)
      Py_DECREF(object);
    Py_CLEAR(all);
  }
};
} // namespace

/// The arguments of the call by name, as `run` gets them: a new dict, or null with an exception.
static PyObject *argumentsByName(const ComputedLauncherObject &launcher, PyObject *const *args, Py_ssize_t count,
                                 PyObject *keywords) {
  static PyObject *const gridName = PyUnicode_InternFromString("grid");
  static PyObject *const warmupName = PyUnicode_InternFromString("warmup");
  PyObject *all = PyDict_New();
  const auto add = [&](PyObject *name, PyObject *value) {
    if (all && PyDict_SetItem(all, name, value) != 0)
      Py_CLEAR(all);
  };
  const Py_ssize_t named = std::min(count, PyList_GET_SIZE(launcher.argNames));
  for (Py_ssize_t i = 0; i < named; ++i)
    add(PyList_GET_ITEM(launcher.argNames, i), args[i]);
  add(gridName, launcher.grid);
  add(warmupName, Py_False);
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k)
    add(PyTuple_GET_ITEM(keywords, k), args[count + k]);
  return all;
}

/// Computes one argument; false with an exception. Each function gets a dict of its own, as it may change or keep it.
bool ComputedCall::add(PyObject *name, PyObject *rule) {
  owned.push_back(Py_NewRef(name));
  owned.push_back(Py_NewRef(rule));
  PyObject *shown = PyDict_Copy(all);
  PyObject *value = shown ? PyObject_CallOneArg(rule, shown) : nullptr;
  Py_XDECREF(shown);
  if (!value)
    return false;
  owned.push_back(value);
  if (PyDict_SetItem(all, name, value) != 0)
    return false;
  const auto known = std::ranges::find_if(
      names, [&](PyObject *each) { return each == name || PyObject_RichCompareBool(each, name, Py_EQ) == 1; });
  if (known != names.end()) { // in place of the given one
    stack[stack.size() - static_cast<size_t>(names.end() - known)] = value;
  } else {
    names.push_back(name);
    stack.push_back(value);
  }
  return true;
}

static bool computeAll(ComputedCall &call, PyObject *values) {
  const Py_ssize_t count = PyDict_GET_SIZE(values);
  PyObject *name = nullptr, *rule = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(values, &at, &name, &rule);) {
    if (!call.add(name, rule))
      return false;
    if (PyDict_GET_SIZE(values) != count)
      return PyErr_SetString(PyExc_RuntimeError, "a heuristic has changed the kernel's `values`"), false;
  }
  return true;
}

static PyObject *namesOf(const ComputedCall &call) {
  PyObject *names = PyTuple_New(static_cast<Py_ssize_t>(call.names.size()));
  for (size_t k = 0; names && k < call.names.size(); ++k)
    PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(k), Py_NewRef(call.names[k]));
  return names;
}

static PyObject *callComputed(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  const auto &launcher = *reinterpret_cast<ComputedLauncherObject *>(self);
  const Py_ssize_t count = PyVectorcall_NARGS(flags), given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  ComputedCall call;
  call.all = argumentsByName(launcher, args, count, keywords);
  if (!call.all)
    return nullptr;
  call.stack.append(args, args + count + given);
  for (Py_ssize_t k = 0; k < given; ++k)
    call.names.push_back(PyTuple_GET_ITEM(keywords, k));
  PyObject *names = computeAll(call, launcher.values) ? namesOf(call) : nullptr;
  PyObject *result =
      names ? PyObject_Vectorcall(launcher.launcher, call.stack.data(), static_cast<size_t>(count), names) : nullptr;
  Py_XDECREF(names);
  call.release();
  return result;
}

//--- The type ----------------------------------------------------------------------------------

static PyObject *createComputedLauncher(PyObject *type, PyObject *const *args, size_t flags, PyObject *keywords) {
  if (PyVectorcall_NARGS(flags) != 4 || keywords || !PyList_Check(args[2]) || !PyDict_CheckExact(args[3]))
    return PyErr_SetString(PyExc_TypeError,
                           "ComputedLauncher takes a launcher, its grid, a list of names and a dict of functions"),
           nullptr;
  auto *self = PyObject_GC_New(ComputedLauncherObject, reinterpret_cast<PyTypeObject *>(type));
  if (!self)
    return nullptr;
  self->call = callComputed;
  self->launcher = Py_NewRef(args[0]);
  self->grid = Py_NewRef(args[1]);
  self->argNames = Py_NewRef(args[2]);
  self->values = Py_NewRef(args[3]);
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject *>(self);
}

static PyObject *newComputedLauncher(PyTypeObject *type, PyObject *args, PyObject *) {
  return createComputedLauncher(reinterpret_cast<PyObject *>(type), reinterpret_cast<PyTupleObject *>(args)->ob_item,
                                static_cast<size_t>(PyTuple_GET_SIZE(args)), nullptr);
}

static int traverseComputedLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<ComputedLauncherObject *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launcher->launcher);
  Py_VISIT(launcher->grid);
  Py_VISIT(launcher->argNames);
  Py_VISIT(launcher->values);
  return 0;
}

static void destroyComputedLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<ComputedLauncherObject *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(launcher->launcher);
  Py_DECREF(launcher->grid);
  Py_DECREF(launcher->argNames);
  Py_DECREF(launcher->values);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// A launcher never changes, so every cycle through it contains an object that can be cleared.
static PyMemberDef computedLauncherMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ComputedLauncherObject, call), READONLY, nullptr},
    {"launcher", T_OBJECT, offsetof(ComputedLauncherObject, launcher), READONLY, "That of the decorated kernel."},
    {"grid", T_OBJECT, offsetof(ComputedLauncherObject, grid), READONLY, "The grid as given."},
    {},
};
static PyType_Slot computedLauncherSlots[] = {
    {Py_tp_doc, const_cast<char *>("`kernel[grid]` of a kernel with heuristics.")},
    {Py_tp_new, reinterpret_cast<void *>(newComputedLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyComputedLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseComputedLauncher)},
    {Py_tp_members, computedLauncherMembers},
    {},
};
static PyType_Spec computedLauncherSpec = {"triton._C.libtriton.ComputedLauncher", sizeof(ComputedLauncherObject), 0,
                                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                                           computedLauncherSlots};

void bindComputedLaunch(nb::module_ &module) {
  nb::object type = checked(PyType_FromSpec(&computedLauncherSpec));
  reinterpret_cast<PyTypeObject *>(type.ptr())->tp_vectorcall = createComputedLauncher;
  module.attr("ComputedLauncher") = type;
}

} // namespace nereid::python
