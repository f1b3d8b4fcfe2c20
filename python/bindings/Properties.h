// The properties of a device as people size their grids by them.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"
#include "runtime/Device.h"

namespace nereid::python {

/// A dict of the properties, under the names that drivers of Triton give them.
nb::dict propertiesDict(const runtime::DeviceProperties &known);

} // namespace nereid::python
