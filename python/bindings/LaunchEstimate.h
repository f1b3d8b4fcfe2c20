// What Python knows of a launch before its kernel is compiled, and the compiler's estimate of it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/explain/Estimate.h"
#include "python/bindings/Python.h"

#include <optional>

namespace nereid::python {

/// From (grid, {position: integer}, bytes of all arrays, multiprocessors, bytes a second of memory); nothing from None.
std::optional<explain::LaunchShape> launchShapeOf(nb::handle launch);

/// By name; None where there is no estimate.
nb::object dictOf(const std::optional<explain::Estimate> &estimate);

} // namespace nereid::python
