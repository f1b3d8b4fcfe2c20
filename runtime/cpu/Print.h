// Writes the values that a program prints to the standard output.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/HostCalls.h"

#include <string>

namespace nereid::runtime {

/// One value as torch prints it, from `column` on: aligned elements, eight a line, brackets for each dimension.
std::string valueText(const PrintedType &type, const void *data, bool isHex, size_t column);

/// Writes all values at once, a line or more each: "(x, y, z) prefix: value".
void printValues(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count,
                 const PrintedType *types, const void *const *values);

} // namespace nereid::runtime
