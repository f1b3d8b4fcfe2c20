// Reads the size of an array's storage: of torch's tensors, numpy's arrays, and objects with `ptr_range()`.
// SPDX-License-Identifier: MIT
#include "python/bindings/Storage.h"

#include <cstdint>
#include <optional>

using namespace nereid;
using namespace nereid::python;

/// The result of a method without arguments; null where there is no such method or it fails.
static nb::object callMethod(nb::handle object, const char *method) {
  nb::object function = attributeOrNull(object, method);
  nb::object result = function.is_valid() ? nb::steal(PyObject_CallNoArgs(function.ptr())) : nb::object();
  if (function.is_valid() && !result.is_valid())
    PyErr_Clear();
  return result;
}

static std::optional<uint64_t> bytesIn(nb::handle object) {
  const uint64_t number = object.is_valid() ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
  if (!PyErr_Occurred())
    return object.is_valid() ? std::optional(number) : std::nullopt;
  PyErr_Clear();
  return std::nullopt;
}

/// numpy shortens chains of views; other libraries' wrappers are few.
static constexpr unsigned kLongestChain = 16;

static std::optional<uint64_t> storageBytes(nb::handle array, unsigned depth) {
  if (nb::object storage = callMethod(array, "untyped_storage"); storage.is_valid())
    return bytesIn(callMethod(storage, "nbytes"));
  if (nb::object range = callMethod(array, "ptr_range"); range.is_valid())
    return bytesIn(range);
  nb::object base = attributeOrNull(array, "base");
  if (!base.is_valid() || depth == kLongestChain)
    return std::nullopt;
  return base.is_none() ? bytesIn(attributeOrNull(array, "nbytes")) : storageBytes(base, depth + 1);
}

bool nereid::python::isWithin2GiB(nb::handle array) {
  const std::optional<uint64_t> bytes = storageBytes(array, 0);
  return bytes && *bytes <= INT32_MAX;
}
