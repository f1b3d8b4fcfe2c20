// What a payload's call expects of the graph that it becomes a part of.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {
void bindXlaArrays(nb::module_ &xla);
} // namespace nereid::python
