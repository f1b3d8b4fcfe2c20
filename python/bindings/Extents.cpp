// Queries `triton.sanitizer` for the extent of an array's memory.
// SPDX-License-Identifier: MIT
#include "python/bindings/Extents.h"

using namespace nereid;
using namespace nereid::python;
using runtime::MemoryExtent;

template <typename Number> static Number numberAt(nb::handle tuple, Py_ssize_t index) {
  return nb::cast<Number>(nb::handle(PyTuple_GET_ITEM(tuple.ptr(), index)));
}

MemoryExtent nereid::python::extentOf(nb::handle object, const jit::PackedParam &param, uint64_t address) {
  MemoryExtent extent;
  extent.base = address;
  if (param.kind != artifact::ParameterKind::Pointer)
    return extent;
  if (object.is_none()) {
    extent.isKnown = 1;
    return extent;
  }
  const unsigned bytes = artifact::storageBytes(param.type);
  nb::object memory = nb::module_::import_("triton.sanitizer").attr("memory_of")(object, bytes);
  if (memory.is_none())
    return extent;
  extent.low = numberAt<int64_t>(memory, 0);
  extent.high = numberAt<int64_t>(memory, 1);
  extent.pattern = numberAt<uint64_t>(memory, 2);
  extent.patternBytes = numberAt<uint32_t>(memory, 3);
  extent.isKnown = 1;
  return extent;
}
