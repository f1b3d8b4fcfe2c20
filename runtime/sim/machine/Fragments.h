// Elements of matrix fragments in registers, as numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Formats.h"

#include <algorithm>
#include <string>

namespace nereid::sim {

enum class MatrixElement : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, F64 };

inline bool matrixElementOf(const std::string &type, MatrixElement &element) {
  static constexpr std::pair<const char *, MatrixElement> known[] = {
      {"f16", MatrixElement::F16},   {"bf16", MatrixElement::BF16}, {"tf32", MatrixElement::TF32},
      {"e4m3", MatrixElement::E4M3}, {"e5m2", MatrixElement::E5M2}, {"s8", MatrixElement::S8},
      {"u8", MatrixElement::U8},     {"f64", MatrixElement::F64}};
  for (auto [name, value] : known)
    if (type == name)
      return element = value, true;
  return false;
}

inline unsigned bytesOf(MatrixElement element) {
  return element == MatrixElement::F64    ? 8
         : element == MatrixElement::TF32 ? 4
         : element <= MatrixElement::BF16 ? 2
                                          : 1;
}

/// The value of the low bits.
inline float valueOf(MatrixElement element, uint32_t bits) {
  switch (element) {
  case MatrixElement::F16:
    return toFloat(Half{uint16_t(bits)});
  case MatrixElement::BF16:
    return toFloat(Brain{uint16_t(bits)});
  case MatrixElement::TF32:
    return std::bit_cast<float>(bits & 0xffffe000);
  case MatrixElement::E4M3: {
    static const float *const values = valuesOf8(kE4m3);
    return values[bits & 0xff];
  }
  case MatrixElement::E5M2: {
    static const float *const values = valuesOf8(kE5m2);
    return values[bits & 0xff];
  }
  case MatrixElement::S8:
    return float(int8_t(bits));
  default:
    return float(uint8_t(bits));
  }
}

/// An accumulator of integers with a sum added.
inline uint32_t integerSum(uint32_t before, int64_t sum, bool isSaturated) {
  const int64_t total = int64_t{int32_t(before)} + sum;
  return uint32_t(isSaturated ? std::clamp<int64_t>(total, INT32_MIN, INT32_MAX) : total);
}
/// An accumulator of floats with a sum added, rounded once.
inline uint32_t floatSum(uint32_t before, double sum) {
  return std::bit_cast<uint32_t>(float(double{std::bit_cast<float>(before)} + sum));
}

} // namespace nereid::sim
