// Checks of what programs access: where it lies, whether it was written.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/CheckedValues.h"

namespace nereid::runtime {

/// The first access outside of its tensor.
std::optional<Finding> findOutside(const CheckedValues &values, const LaunchMemory &memory);
/// The first access of an element that still holds what its memory was filled with when it was made.
std::optional<Finding> findUnwritten(const CheckedValues &values, const LaunchMemory &memory);
/// Remembers where a program stores just what never-written memory holds.
void noteWritten(const CheckedValues &values, const LaunchMemory &memory);
/// The first element whose flag is set.
std::optional<Finding> findUndefined(const CheckedValues &values);

} // namespace nereid::runtime
