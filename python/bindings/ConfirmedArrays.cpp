// A small table of weak references to arrays, by their addresses as objects.
// SPDX-License-Identifier: MIT
#include "python/bindings/ConfirmedArrays.h"

#include <array>
#include <utility>

namespace nereid::python {

namespace {
struct ConfirmedArray {
  PyObject *reference = nullptr; ///< a weak one; owned
  PyObject *object = nullptr;    ///< what it refers to, or did
  uint64_t address = 0;
};
} // namespace

static std::array<ConfirmedArray, 256> confirmedArrays;
static nb::ft_mutex confirming;

static ConfirmedArray &placeOf(PyObject *object) {
  const auto number = reinterpret_cast<uintptr_t>(object) >> 4;
  return confirmedArrays[(number ^ (number >> 8)) % confirmedArrays.size()];
}

/// Whether the object of a weak reference still lives: no other object has its place.
static bool isAlive(PyObject *reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *object = nullptr;
  const bool isReferring = PyWeakref_GetRef(reference, &object) == 1;
  Py_XDECREF(object);
  return isReferring;
#else
  return PyWeakref_GetObject(reference) != Py_None;
#endif
}

bool isConfirmed(PyObject *object, uint64_t address) {
  const nb::ft_lock_guard lock(confirming);
  const ConfirmedArray &known = placeOf(object);
  return known.object == object && known.address == address && isAlive(known.reference);
}

void confirmArray(PyObject *object, uint64_t address) {
  PyObject *reference = PyWeakref_NewRef(object, nullptr);
  if (!reference)
    return PyErr_Clear(); // it is asked each time
  {
    const nb::ft_lock_guard lock(confirming);
    ConfirmedArray &place = placeOf(object);
    std::swap(reference, place.reference);
    place.object = object;
    place.address = address;
  }
  Py_XDECREF(reference);
}

} // namespace nereid::python
