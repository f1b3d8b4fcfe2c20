// The base type of constexpr functions: calls with plain values go to the Python function at once.
// SPDX-License-Identifier: MIT
//
// Grid functions call `triton.cdiv` at each launch; in Python, looking for a constexpr among two integers takes as long
// as a small kernel. Classes keep their `__call__` in Python, for calls with other values and for tools that trace
// Python code, as torch.compile does.
#include "python/bindings/Python.h"

#include <cstddef>

#include <structmember.h>

namespace nereid::python {

namespace {
struct PlainCallObject {
  PyObject_HEAD vectorcallfunc call;
};
} // namespace

// Interned; they and the type are never freed.
static PyObject *functionName = nullptr, *slowCallName = nullptr;
static PyTypeObject *plainCallType = nullptr;

/// Whether the value cannot be a constexpr.
static bool isPlain(PyObject *value) {
  const PyTypeObject *type = Py_TYPE(value);
  return type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
         value == Py_None;
}

static PyObject *callPlainOrSlow(PyObject *self, PyObject *const *args, size_t flaggedCount, PyObject *names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flaggedCount);
  bool hasPlainValues = !names;
  for (Py_ssize_t i = 0; i < count && hasPlainValues; ++i)
    hasPlainValues = isPlain(args[i]);
  PyObject *target = PyObject_GetAttr(self, hasPlainValues ? functionName : slowCallName);
  if (!target)
    return nullptr;
  PyObject *result = PyObject_Vectorcall(target, args, flaggedCount, names);
  Py_DECREF(target);
  return result;
}

static PyObject *createPlainCall(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    reinterpret_cast<PlainCallObject *>(self)->call = callPlainOrSlow;
  return self;
}

static int traversePlainCall(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

static void destroyPlainCall(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMemberDef plainCallMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PlainCallObject, call), READONLY, nullptr},
    {},
};
static PyType_Slot plainCallSlots[] = {
    {Py_tp_doc, const_cast<char *>("Calls `fn` where all arguments are plain values, else `__call__` of the class.")},
    {Py_tp_new, reinterpret_cast<void *>(createPlainCall)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyPlainCall)},
    {Py_tp_traverse, reinterpret_cast<void *>(traversePlainCall)},
    {Py_tp_members, plainCallMembers},
    {},
};
static PyType_Spec plainCallSpec = {
    "triton._C.libtriton.PlainCall", sizeof(PlainCallObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, plainCallSlots};

/// Replaces what the interpreter's own calls run; the attribute `__call__` stays.
static void callNatively(nb::handle object) {
  auto *type = reinterpret_cast<PyTypeObject *>(object.ptr());
  if (!PyType_Check(object.ptr()) || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_vectorcall_offset <= 0)
    raise(PyExc_TypeError, "expected a subclass of PlainCall or BoundLaunch, got " + reprOf(object));
  type->tp_call = PyVectorcall_Call;
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  PyType_Modified(type);
}

void bindPlainCall(nb::module_ &module) {
  functionName = PyUnicode_InternFromString("fn");
  slowCallName = PyUnicode_InternFromString("__call__");
  nb::object type = checked(PyType_FromSpec(&plainCallSpec));
  plainCallType = reinterpret_cast<PyTypeObject *>(type.ptr());
  module.attr("PlainCall") = type;
  type.release();
  module.def("call_natively", &callNatively, nb::arg("type"),
             "Makes calls of instances of this subclass of PlainCall or BoundLaunch native.");
}

} // namespace nereid::python
