// The arrays that a payload's call expects from its graph.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {
void bindXlaArrays(nb::module_ &xla);
} // namespace nereid::python
