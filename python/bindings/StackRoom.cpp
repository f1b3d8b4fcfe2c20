// Moves a call to a thread with a large stack and back.
// SPDX-License-Identifier: MIT
//
// Python code that the compiler calls, as a function of constants, finds the caller's context variables (warnings'
// filters are one), tracer and profiler there, and what it sets of variables stays set. Values in `threading.local` are
// the other thread's own.
#include "python/bindings/StackRoom.h"

#include <array>

using namespace nereid;
using namespace nereid::python;

namespace {
/// What `sys` knows of one thread.
struct Hooks {
  std::array<nb::object, 2> functions;

  static constexpr std::array<const char *, 2> getters{"gettrace", "getprofile"}, setters{"settrace", "setprofile"};

  static Hooks ofThread() {
    Hooks hooks;
    const nb::module_ sys = nb::module_::import_("sys");
    for (size_t i = 0; i < getters.size(); ++i)
      hooks.functions[i] = sys.attr(getters[i])();
    return hooks;
  }

  void set(bool isOn) const {
    for (size_t i = 0; i < setters.size(); ++i)
      if (!functions[i].is_none())
        nb::module_::import_("sys").attr(setters[i])(isOn ? functions[i] : nb::none());
  }
};
} // namespace

/// Runs `work` with a copy of the caller's context, and its hooks.
static std::exception_ptr runIn(nb::handle context, const Hooks &hooks, llvm::function_ref<void()> work) {
  std::exception_ptr raised;
  const GilAcquire acquired;
  const bool isEntered = PyContext_Enter(context.ptr()) == 0;
  if (!isEntered)
    PyErr_Clear(); // its variables keep their defaults
  try {
    hooks.set(true);
    work();
  } catch (...) {
    raised = std::current_exception();
  }
  try {
    hooks.set(false);
  } catch (const nb::python_error &) {
    // the thread ends
  }
  if (isEntered && PyContext_Exit(context.ptr()) != 0)
    PyErr_Clear();
  return raised;
}

/// Gives this thread's variables the values that they have in `context`.
static void takeVariables(nb::handle context) {
  for (nb::handle item : nb::list(context.attr("items")())) {
    PyObject *variable = PyTuple_GET_ITEM(item.ptr(), 0), *value = PyTuple_GET_ITEM(item.ptr(), 1), *before = nullptr;
    if (PyContextVar_Get(variable, nullptr, &before) != 0)
      throw nb::python_error();
    const nb::object held = nb::steal(before);
    if (before != value)
      nb::steal(checked(PyContextVar_Set(variable, value)));
  }
}

void python::runElsewhere(llvm::function_ref<void()> work) {
  const nb::object context = checked(PyContext_CopyCurrent());
  const Hooks hooks = Hooks::ofThread();
  std::exception_ptr raised;
  {
    const GilRelease released;
    support::runWithStackRoom([&] { raised = runIn(context, hooks, work); });
  }
  takeVariables(context);
  if (raised)
    std::rethrow_exception(raised);
}
