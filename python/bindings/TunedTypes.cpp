// The Python types of native launches of autotuned kernels: `TunedCalls`, the state, and `TunedLauncher`,
// `tuner[grid]`.
// SPDX-License-Identifier: MIT
#include "python/bindings/TunedLaunch.h"

#include <cstddef>
#include <structmember.h>

namespace nereid::python {

static PyTypeObject *tunedCallsType = nullptr; // owned by the module

//--- TunedCalls: the state ---------------------------------------------------------------------

static PyObject *newTunedCalls(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    reinterpret_cast<TunedCallsObject *>(self)->state = new TunedState;
  return self;
}

static int traverseTunedCalls(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  const TunedState *state = reinterpret_cast<TunedCallsObject *>(self)->state;
  if (!state)
    return 0;
  Py_VISIT(state->keys.ptr());
  Py_VISIT(state->lastConfig.ptr());
  int stopped = 0;
  const auto visitEntry = [&](const TunedEntry &entry) -> int {
    for (const nb::object *object : {&entry.cacheKey, &entry.config, &entry.kwargs, &entry.values})
      Py_VISIT(object->ptr());
    Py_VISIT(entry.launch.compiled);
    Py_VISIT(entry.launch.kernel);
    for (PyObject *object : entry.launch.identities)
      Py_VISIT(object);
    return 0;
  };
  if (state->table)
    state->table->forEach([&](std::string_view, const TunedEntry &entry) {
      if (!stopped)
        stopped = visitEntry(entry);
    });
  return stopped;
}

static int clearTunedCalls(PyObject *self) {
  if (TunedState *state = reinterpret_cast<TunedCallsObject *>(self)->state) {
    const auto table = std::move(state->table); // its destruction may run Python code
    const nb::object keys = std::move(state->keys), config = std::move(state->lastConfig);
  }
  return 0;
}

static void destroyTunedCalls(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<TunedCallsObject *>(self)->state, nullptr);
  type->tp_free(self);
  Py_DECREF(type);
}

/// The frame of this thread's innermost launch, if it is one of these calls.
static TunedFrame *frameOf(PyObject *self) {
  TunedFrame *innermost = innermostFrame();
  return innermost && innermost->calls == self ? innermost : nullptr;
}

/// `nargs(tuner, otherwise)`
static PyObject *nargs(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count != 2)
    return PyErr_SetString(PyExc_TypeError, "nargs takes a tuner and a value"), nullptr;
  const TunedFrame *frame = frameOf(self);
  if (!frame)
    return Py_NewRef(args[1]);
  if (frame->assigned.is_valid())
    return Py_NewRef(frame->assigned.ptr());
  const nb::object argNames = nb::steal(PyObject_GetAttr(args[0], tunerNames().argNames));
  const nb::object list = argNames.is_valid() ? nb::steal(PySequence_List(argNames.ptr())) : nb::object();
  PyObject *dict = list.is_valid() ? PyDict_New() : nullptr;
  for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(list.ptr()) && static_cast<size_t>(i) < frame->call.count; ++i)
    if (PyDict_SetItem(dict, PyList_GET_ITEM(list.ptr(), i), frame->call.args[i]) != 0)
      Py_CLEAR(dict);
  return dict;
}

static PyObject *setNargs(PyObject *self, PyObject *value) {
  TunedFrame *frame = frameOf(self);
  if (frame)
    frame->assigned = nb::borrow(value);
  return PyBool_FromLong(frame != nullptr);
}

static PyObject *forgetBest(PyObject *self, PyObject *) {
  reinterpret_cast<TunedCallsObject *>(self)->state->lastThread = 0;
  Py_RETURN_NONE;
}

static PyObject *reduceTunedCalls(PyObject *self, PyObject *) {
  return Py_BuildValue("O()", Py_TYPE(self)); // a copy knows nothing
}

static PyMethodDef tunedCallsMethods[] = {
    {"nargs", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(nargs)), METH_FASTCALL,
     "The positional arguments, by name, of the launch that this thread is in; outside of one the second argument."},
    {"set_nargs", setNargs, METH_O, "Replaces what `nargs` gives in the launch; False outside of one."},
    {"forget_best", forgetBest, METH_NOARGS, "The next launch sets `best_config`."},
    {"__reduce__", reduceTunedCalls, METH_NOARGS, nullptr},
    {},
};
static PyType_Slot tunedCallsSlots[] = {
    {Py_tp_doc, const_cast<char *>("What launches of one autotuner have chosen so far.")},
    {Py_tp_new, reinterpret_cast<void *>(newTunedCalls)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyTunedCalls)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseTunedCalls)},
    {Py_tp_clear, reinterpret_cast<void *>(clearTunedCalls)},
    {Py_tp_methods, tunedCallsMethods},
    {},
};
static PyType_Spec tunedCallsSpec = {"triton._C.libtriton.TunedCalls", sizeof(TunedCallsObject), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, tunedCallsSlots};

//--- TunedLauncher -----------------------------------------------------------------------------

static PyObject *createTunedLauncher(PyObject *type, PyObject *const *args, size_t flags, PyObject *keywords) {
  if (PyVectorcall_NARGS(flags) != 3 || keywords || Py_TYPE(args[1]) != tunedCallsType)
    return PyErr_SetString(PyExc_TypeError, "TunedLauncher takes an autotuner, its TunedCalls and a grid"), nullptr;
  auto *self = PyObject_GC_New(TunedLauncherObject, reinterpret_cast<PyTypeObject *>(type));
  if (!self)
    return nullptr;
  self->call = callTuned;
  self->tuner = Py_NewRef(args[0]);
  self->calls = Py_NewRef(args[1]);
  self->grid = Py_NewRef(args[2]);
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject *>(self);
}

static PyObject *newTunedLauncher(PyTypeObject *type, PyObject *args, PyObject *) {
  return createTunedLauncher(reinterpret_cast<PyObject *>(type), reinterpret_cast<PyTupleObject *>(args)->ob_item,
                             PyTuple_GET_SIZE(args), nullptr);
}

static int traverseTunedLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<TunedLauncherObject *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launcher->tuner);
  Py_VISIT(launcher->calls);
  Py_VISIT(launcher->grid);
  return 0;
}

static void destroyTunedLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<TunedLauncherObject *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(launcher->tuner);
  Py_DECREF(launcher->calls);
  Py_DECREF(launcher->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyMemberDef tunedLauncherMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(TunedLauncherObject, call), READONLY, nullptr},
    {"fn", T_OBJECT, offsetof(TunedLauncherObject, tuner), READONLY, "The autotuner."},
    {"grid", T_OBJECT, offsetof(TunedLauncherObject, grid), READONLY, "The grid as given."},
    {},
};
static PyType_Slot tunedLauncherSlots[] = {
    {Py_tp_doc, const_cast<char *>("`tuner[grid]`: call it with the kernel's arguments.")},
    {Py_tp_new, reinterpret_cast<void *>(newTunedLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyTunedLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseTunedLauncher)},
    {Py_tp_members, tunedLauncherMembers},
    {},
};
static PyType_Spec tunedLauncherSpec = {"triton._C.libtriton.TunedLauncher", sizeof(TunedLauncherObject), 0,
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                                        tunedLauncherSlots};

void bindTunedLaunch(nb::module_ &module) {
  nb::object calls = checked(PyType_FromSpec(&tunedCallsSpec));
  tunedCallsType = reinterpret_cast<PyTypeObject *>(calls.ptr());
  module.attr("TunedCalls") = calls;
  calls.release(); // never freed: tunedCallsType points to it
  nb::object launcher = checked(PyType_FromSpec(&tunedLauncherSpec));
  reinterpret_cast<PyTypeObject *>(launcher.ptr())->tp_vectorcall = createTunedLauncher;
  module.attr("TunedLauncher") = launcher;
  module.def("set_tuner_class", &setTunerClass, nb::arg("type"),
             "The class Autotuner, of whose launches the native ones may leave out the methods in Python.");
}

} // namespace nereid::python
