// Reads Python's numbers as arguments of a launch.
// SPDX-License-Identifier: MIT
//
// Inline, since a launch reads each of its arguments.
#pragma once

#include "jit/Packing.h"
#include "python/bindings/Python.h"

namespace nereid::python {

enum class NumberResult : uint8_t {
  Read,
  NotANumber,
  TooLarge, ///< an integer beyond 64 bits; a Python exception is set
};

/// Reads None, a bool, an int or a float. `takesSubclasses`: also an instance of a class derived from float, which
/// takes a walk over the object's bases to tell.
inline NumberResult readNumber(PyObject *object, jit::ArgumentLeaf &leaf, bool takesSubclasses = true) {
  using Kind = jit::ArgumentLeaf::Kind;
  if (PyBool_Check(object)) {
    leaf.kind = Kind::Bool;
    leaf.integer = object == Py_True;
  } else if (PyLong_Check(object)) {
    int overflow = 0;
    leaf.kind = Kind::Int;
    leaf.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) {
      leaf.kind = Kind::UInt;
      leaf.bits = PyLong_AsUnsignedLongLong(object);
      return PyErr_Occurred() ? NumberResult::TooLarge : NumberResult::Read;
    }
  } else if (PyFloat_CheckExact(object) || (takesSubclasses && PyFloat_Check(object))) {
    leaf.kind = Kind::Float;
    leaf.number = PyFloat_AS_DOUBLE(object);
  } else if (object != Py_None) {
    return NumberResult::NotANumber;
  }
  return NumberResult::Read;
}

} // namespace nereid::python
