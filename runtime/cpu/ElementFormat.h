// The element types of values that kernels pass to the runtime, by name: their widths and formats.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::runtime {

/// A float format by the widths of its fields; the exponent has the remaining bits.
struct FloatFormat {
  unsigned bits, mantissa;
  int bias;
  bool isFnuz = false, isE4m3fn = false;
};

struct ElementFormat {
  /// "i32", "u8", "i1", "fp16", "bf16", "fp8e5", "ptr" ...
  explicit ElementFormat(std::string_view name);

  unsigned bits = 0;
  bool isFloat = false, isSigned = false, isBool = false, isPointer = false;
  FloatFormat format{};

  unsigned bytes() const { return isBool ? 1 : bits / 8; }
};

/// The bits of an element of a value in memory.
uint64_t readBits(const ElementFormat &format, const void *data, int64_t index);
double floatOf(const FloatFormat &format, uint64_t bits);

} // namespace nereid::runtime
