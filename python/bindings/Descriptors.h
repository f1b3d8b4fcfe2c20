// Tensor descriptors made on the host: recognised by their class's name, read field by field for a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::python {

bool isDescriptor(nb::handle argument);

/// The base array of a descriptor.
nb::object baseOf(nb::handle descriptor);

/// A descriptor's values; extents, strides and block shape have the same length.
struct DescriptorValues {
  nb::object base;
  llvm::SmallVector<int64_t, 5> extents, strides, block;
  bool padsWithNan = false, roundsToTf32 = false;
};
/// Nothing where the lists differ in length; raises where a field is missing or of another type.
std::optional<DescriptorValues> valuesOf(nb::handle descriptor);

/// The field of a descriptor for its parameter number `part`, in the order of the plain launch ABI.
nb::object descriptorField(nb::handle descriptor, size_t part);

} // namespace nereid::python
