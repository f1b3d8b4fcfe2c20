// Tensor descriptors made on the host: recognised by their class's name, read field by field for a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {

bool isDescriptor(nb::handle argument);

/// The base array of a descriptor.
nb::object baseOf(nb::handle descriptor);

/// The field of a descriptor for its parameter number `part`, in the order of the plain launch ABI.
nb::object descriptorField(nb::handle descriptor, size_t part);

} // namespace nereid::python
