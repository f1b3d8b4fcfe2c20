// Reads the size of an array's storage: of torch's tensors, numpy's arrays, and objects with `ptr_range()`.
// SPDX-License-Identifier: MIT
#include "python/bindings/Storage.h"

#include <cstdint>
#include <optional>

using namespace nereid;
using namespace nereid::python;

/// The result of a method without arguments, as a number; nothing where it fails.
static std::optional<uint64_t> callForNumber(nb::handle object, const char *method) {
  nb::object result = nb::steal(PyObject_CallMethod(object.ptr(), method, nullptr));
  const uint64_t number = result.is_valid() ? PyLong_AsUnsignedLongLong(result.ptr()) : 0;
  if (!PyErr_Occurred())
    return number;
  PyErr_Clear();
  return std::nullopt;
}

static bool has(nb::handle object, const char *name) { return attributeOrNull(object, name).is_valid(); }

/// numpy shortens chains of views; other libraries' wrappers are few.
static constexpr unsigned kLongestChain = 16;

static std::optional<uint64_t> storageBytes(nb::handle array, unsigned depth) {
  if (has(array, "untyped_storage")) {
    nb::object storage = nb::steal(PyObject_CallMethod(array.ptr(), "untyped_storage", nullptr));
    if (storage.is_valid())
      return callForNumber(storage, "nbytes");
    PyErr_Clear();
    return std::nullopt;
  }
  if (has(array, "ptr_range"))
    return callForNumber(array, "ptr_range");
  nb::object base = attributeOrNull(array, "base");
  if (!base.is_valid() || depth == kLongestChain)
    return std::nullopt;
  if (!base.is_none())
    return storageBytes(base, depth + 1);
  nb::object bytes = attributeOrNull(array, "nbytes");
  const uint64_t number = bytes.is_valid() ? PyLong_AsUnsignedLongLong(bytes.ptr()) : 0;
  if (bytes.is_valid() && !PyErr_Occurred())
    return number;
  PyErr_Clear();
  return std::nullopt;
}

bool nereid::python::isWithin2GiB(nb::handle array) {
  const std::optional<uint64_t> bytes = storageBytes(array, 0);
  return bytes && *bytes <= INT32_MAX;
}
