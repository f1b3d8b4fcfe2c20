// Tensor descriptors that the host makes: recognised by their class's name, taken apart for a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {

bool isDescriptor(nb::handle argument);

/// The memory that a descriptor describes.
nb::object baseOf(nb::handle descriptor);

/// The part of a descriptor that is its parameter of that number, in the order of the plain launch ABI.
nb::object descriptorField(nb::handle descriptor, size_t part);

} // namespace nereid::python
