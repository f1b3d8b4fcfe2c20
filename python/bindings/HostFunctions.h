// Functions of Python and its libraries that a kernel calls while it compiles.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {

/// Whether this is a function or a class in C such as `numpy.exp` and `numpy.float32`: no function, class or object of
/// Python's, whose errors are its author's.
bool isNative(PyObject *callee);

/// Whether it is native, or Python code of a library: its errors speak of what the user does not see.
bool isOfLibrary(PyObject *callee);

/// Whether the result depends on more than the arguments: a clock, random numbers, the environment, a library's
/// settings. The kernel would keep what it was while it compiled.
bool readsState(PyObject *callee, bool hasArguments);
std::string refusalOfState(PyObject *callee);

/// Why a function such as `numpy.exp` failed on a tensor, and which function of the language does its work.
std::string onValuesOfPython(PyObject *callee);

void bindHostFunctions(nb::module_ &module);

} // namespace nereid::python
