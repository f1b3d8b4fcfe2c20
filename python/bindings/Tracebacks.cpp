// Calls for users: an error of theirs leaves such a call without the package's own frames in its traceback.
// SPDX-License-Identifier: MIT
//
// The calls are native, since a Python function adds a frame to every exception that passes through it.
#include "python/bindings/Tracebacks.h"

namespace nereid::python {

void hideOwnFrames() {
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (traceback)
    PyException_SetTraceback(error, traceback);
  PyObject *module = PyImport_ImportModule("triton._tracebacks");
  PyObject *done = module ? PyObject_CallMethod(module, "without_own_frames", "O", error) : nullptr;
  if (!done)
    PyErr_Clear(); // the error itself matters
  Py_XDECREF(done);
  Py_XDECREF(module);
  Py_XDECREF(traceback);
  PyErr_Restore(type, error, PyException_GetTraceback(error));
}

static nb::object callOfUser(nb::handle function, const nb::args &args, const nb::kwargs &keywords) {
  PyObject *result = PyObject_Call(function.ptr(), args.ptr(), keywords.ptr());
  if (!result)
    hideOwnFrames();
  return checked(result);
}

void bindTracebacks(nb::module_ &module) {
  module.def("call_of_user", &callOfUser, nb::arg("function"), nb::arg("args"), nb::arg("keywords"),
             "Calls `function`; where the user's own error leaves it, its traceback has only the user's frames.");
}

} // namespace nereid::python
