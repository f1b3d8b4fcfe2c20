// One launch from Python: its arguments by parameter, its grid, and the launch of a kernel with them.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/LaunchKey.h"

#include <memory>

namespace nereid::python {

/// What became of a launch on the native path.
enum class FastPath {
  Ok,
  Failed,   ///< a Python exception is set
  Miss,     ///< no kernel is known under the key
  Fallback, ///< Python has to handle the call
};

/// The arguments of one call, by parameter.
struct LaunchCall {
  LaunchCall(PyObject *const *args, size_t count, PyObject *keywords) : args(args), count(count), keywords(keywords) {}

  PyObject *const *args;
  size_t count;
  PyObject *keywords;          ///< tuple of names, or null; their values follow `args`
  SharedParameters parameters; ///< of the state when the call began
  bool isWarmup = false;       ///< torch's dtypes may replace arrays, and there is a `grid`
  PyObject *stream = nullptr;  ///< as given, or null
  PyObject *few[LaunchKey::fewArguments];
  std::unique_ptr<PyObject *[]> many;
  LaunchKey key;
  PyObject **bound = few;

  const std::vector<LaunchParameter> &list() const { return parameters->list; }
  /// Makes room for the parameters, none of which has an argument yet; false where there are too many.
  bool reserve();
};

/// The index of the parameter of that name; the number of parameters where there is none.
size_t findParameter(const std::vector<LaunchParameter> &parameters, PyObject *name);

/// Fills `bound` with the arguments that are given, null for the others, and adds the options to the key; false where
/// Python has to handle the call, or with a Python exception.
bool bindGiven(LaunchCall &call);
/// Fills `bound` and the key with all arguments.
bool bindCall(LaunchCall &call);

/// Whether launches of known keys have to go through Python: a class or a program has replaced `JITFunction.run`, hooks
/// are set, or a global has changed.
bool goesThroughPython(PyObject *function, const JitState &state);

/// The kernel and what keeps it alive, borrowed: they may be dropped while Python code runs.
struct LaunchTarget {
  PyObject *compiled; ///< what the launch returns
  PyObject *kernel;   ///< owns `loaded`
  LoadedKernel *loaded;
  bool isFrozen = false; ///< it stays on its device, whichever is current
};

/// Launches a kernel with the arguments of a call.
FastPath launchTarget(const LaunchTarget &target, PyObject *gridValue, const LaunchCall &call, PyObject *&result);

/// Whether the kernel can be launched from the key's leaves alone.
bool fits(const LoadedKernel &kernel, const LaunchCall &call);

/// Objects of the package that launches need.
struct LaunchRuntime {
  PyObject *run;         ///< of JITFunction, which launches of known keys may leave out
  PyObject *driver;      ///< `triton.runtime.driver`
  PyObject *futureClass; ///< of kernels that are still being compiled
};
void setLaunchRuntime(nb::object run, nb::object driver, nb::object futureClass);
/// Null until the package is imported.
const LaunchRuntime *launchRuntime();

/// Calls `method` of `object` as if the arguments of the call, and `more` of the names in `moreNames`, were given to
/// it.
PyObject *callThroughPython(PyObject *object, PyObject *method, PyObject *const *args, size_t count, PyObject *keywords,
                            std::initializer_list<std::pair<PyObject *, PyObject *>> more);

/// `kernel._c_expect(compiled, ...)`: a method of JITBase.
PyObject *expectLaunch(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

/// The part of it for `kernel.warmup`: the kernel need not be loaded.
bool expectWarmup(PyObject *self, JitState &state, LaunchCall &call, PyObject *compiled, uint64_t epoch);

/// `kernel.warmup(...)`: a method of JITBase.
PyObject *warmup(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

} // namespace nereid::python
