// Moves a call to a thread with a large stack and back.
// SPDX-License-Identifier: MIT
#include "python/bindings/StackRoom.h"

using namespace nereid;
using namespace nereid::python;

/// Runs `work` in the context that the other thread copied from its own.
static std::exception_ptr runIn(nb::handle context, llvm::function_ref<void()> work) {
  std::exception_ptr raised;
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool isEntered = PyContext_Enter(context.ptr()) == 0;
  if (!isEntered)
    PyErr_Clear(); // its variables keep their defaults
  try {
    work();
  } catch (...) {
    raised = std::current_exception();
  }
  if (isEntered && PyContext_Exit(context.ptr()) != 0)
    PyErr_Clear();
  PyGILState_Release(state);
  return raised;
}

void python::runElsewhere(llvm::function_ref<void()> work) {
  const nb::object context = checked(PyContext_CopyCurrent());
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release released;
    support::runWithStackRoom([&] { raised = runIn(context, work); });
  }
  if (raised)
    std::rethrow_exception(raised);
}
