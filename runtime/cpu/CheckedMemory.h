// Checks of memory accesses: whether the address is in bounds, and whether the memory was written.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/CheckedValues.h"

namespace nereid::runtime {

/// The first access outside its tensor.
std::optional<Finding> findOutside(const CheckedValues &values, const LaunchMemory &memory);
/// The first access of an element that still holds the fill value of its memory.
std::optional<Finding> findUnwritten(const CheckedValues &values, const LaunchMemory &memory);
/// Records where a program stores the fill value of never-written memory.
void noteWritten(const CheckedValues &values, const LaunchMemory &memory);
/// The first element whose flag is set.
std::optional<Finding> findUndefined(const CheckedValues &values);

} // namespace nereid::runtime
