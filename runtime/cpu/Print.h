// Writes the values that a program prints to the standard output.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/HostCalls.h"

namespace nereid::runtime {

/// Writes all values at once, a line for each element, as GPUs do: "pid (x, y, z) idx (i, j) prefix: value".
void printValues(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count, const PrintedType *types,
                 const void *const *values);

} // namespace nereid::runtime
