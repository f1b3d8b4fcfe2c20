// Floating-point formats: encoding with every rounding mode, decoding, and fast paths for 16-bit formats.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Lanes.h"

#include <cmath>

namespace nereid::sim {

enum class Rounding : uint8_t { Nearest, NearestAway, Zero, Down, Up };

struct Format {
  unsigned mantissaBits, exponentBits;
  bool hasInfinity = true; ///< otherwise the largest exponent holds numbers, and all ones is NaN (e4m3)
  bool hasNan = true;
  bool isFnuz = false; ///< no infinity, no negative zero, whose bits are the only NaN
  constexpr int bias() const { return (1 << (exponentBits - 1)) - (isFnuz ? 0 : 1); }
  constexpr unsigned bits() const { return 1 + exponentBits + mantissaBits; }
};

inline constexpr Format kF16{10, 5}, kBf16{7, 8}, kTf32{10, 8}, kF32{23, 8}, kF64{52, 11}, kE4m3{3, 4, false},
    kE5m2{2, 5}, kE2m1{1, 2, false, false}, kE2m3{3, 2, false, false}, kE3m2{2, 3, false, false},
    kE4m3fnuz{3, 4, false, true, true}, kE5m2fnuz{2, 5, false, true, true};

/// The value's bits; what is too large becomes infinity, or with `isFinite`, and where there is none, the largest
/// number.
uint64_t encode(long double value, const Format &format, Rounding rounding, bool isFinite = false);
double decode(uint64_t bits, const Format &format);

/// All values of a format of 8 bits.
const float *valuesOf8(const Format &format);

inline float toFloat(Half value) { return float(std::bit_cast<_Float16>(value.bits)); }
inline float toFloat(Brain value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

/// Rounds to nearest; every NaN becomes the canonical one.
inline Half toHalf(float value) {
  return Half{value != value ? uint16_t(0x7fff) : std::bit_cast<uint16_t>(_Float16(value))};
}
inline Brain toBrain(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return Brain{value != value ? uint16_t(0x7fff) : uint16_t(rounded)};
}
template <typename T> T fromFloat(float value) {
  if constexpr (std::is_same_v<T, Half>)
    return toHalf(value);
  else if constexpr (std::is_same_v<T, Brain>)
    return toBrain(value);
  else
    return value;
}

/// a * b + c of 16-bit floats, rounded once: the exact product, then sums rounded to odd.
template <typename T> T fusedProduct(T a, T b, T c) {
  const double product = double{toFloat(a)} * toFloat(b), add = toFloat(c);
  double sum = product + add;
  const double back = sum - product, rest = (product - (sum - back)) + (add - back);
  if (rest != 0 && !(std::bit_cast<uint64_t>(sum) & 1) && std::isfinite(sum))
    sum = std::bit_cast<double>(std::bit_cast<uint64_t>(sum) + ((rest > 0) == (sum > 0) ? 1 : -1));
  float single = float(sum);
  if (double{single} != sum && !(std::bit_cast<uint32_t>(single) & 1) && std::isfinite(single) && single != 0)
    single =
        std::bit_cast<float>(std::bit_cast<uint32_t>(single) + (std::abs(sum) > std::abs(double{single}) ? 1 : -1));
  return fromFloat<T>(single);
}

} // namespace nereid::sim
