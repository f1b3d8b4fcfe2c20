// Encodes and decodes floating-point formats by their definition.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Formats.h"

#include <map>
#include <mutex>
#include <tuple>

using namespace nereid::sim;

static bool roundsUp(long double rest, uint64_t significand, bool isNegative, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return rest > 0.5L || (rest == 0.5L && (significand & 1));
  case Rounding::NearestAway:
    return rest >= 0.5L;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return isNegative && rest > 0;
  case Rounding::Up:
    return !isNegative && rest > 0;
  }
  return false;
}

uint64_t nereid::sim::encode(long double value, const Format &format, Rounding rounding, bool isFinite) {
  const unsigned mantissa = format.mantissaBits;
  const uint64_t exponents = (uint64_t{1} << format.exponentBits) - 1, ones = (uint64_t{1} << mantissa) - 1;
  const uint64_t infinity = exponents << mantissa;
  const uint64_t largest = format.hasInfinity                ? infinity - 1
                           : format.hasNan && !format.isFnuz ? (infinity | ones) - 1
                                                             : infinity | ones;
  const uint64_t fnuzNan = uint64_t{1} << (format.bits() - 1);
  if (format.isFnuz && (std::isnan(value) || (std::isinf(value) && !isFinite)))
    return fnuzNan;
  if (std::isnan(value))
    return format.hasNan ? infinity | ones : largest; // the canonical NaN is positive
  const bool isNegative = std::signbit(value);
  const uint64_t sign = uint64_t{isNegative} << (format.bits() - 1);
  const long double magnitude = std::fabs(value);
  if (magnitude == 0)
    return format.isFnuz ? 0 : sign;
  const bool towardsZero = rounding == Rounding::Zero || (rounding == Rounding::Down && !isNegative) ||
                           (rounding == Rounding::Up && isNegative);
  const uint64_t overflow = isFinite || (!format.hasInfinity && !format.hasNan) ? largest
                            : format.hasInfinity                                ? towardsZero ? largest : infinity
                                                                                : infinity | ones;
  if (std::isinf(magnitude))
    return sign | (isFinite || !format.hasInfinity ? overflow : infinity);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int unit = std::max(exponent - 1, 1 - format.bias()) - int(mantissa);
  const long double scaled = std::ldexp(magnitude, -unit);
  uint64_t significand = uint64_t(scaled);
  significand += roundsUp(scaled - significand, significand, isNegative, rounding);
  if (significand > (ones << 1 | 1))
    significand >>= 1, ++unit;
  const uint64_t biased = significand > ones ? uint64_t(unit + int(mantissa) + format.bias()) : 0;
  const uint64_t bits = (biased << mantissa) | (significand & ones);
  const bool isTooLarge = biased > exponents || bits > largest;
  if (format.isFnuz)
    return isTooLarge ? isFinite || towardsZero ? sign | largest : fnuzNan : bits ? sign | bits : 0;
  return sign | (isTooLarge ? overflow : bits);
}

double nereid::sim::decode(uint64_t bits, const Format &format) {
  const unsigned mantissa = format.mantissaBits;
  const uint64_t exponents = (uint64_t{1} << format.exponentBits) - 1, ones = (uint64_t{1} << mantissa) - 1;
  const uint64_t exponent = bits >> mantissa & exponents, fraction = bits & ones;
  const double sign = bits >> (format.bits() - 1) & 1 ? -1 : 1;
  if (format.isFnuz && bits == uint64_t{1} << (format.bits() - 1))
    return NAN;
  if (exponent == exponents && format.hasInfinity)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == exponents && format.hasNan && !format.isFnuz && fraction == ones)
    return NAN;
  const double scaled = double(exponent ? fraction | (ones + 1) : fraction);
  return sign * std::ldexp(scaled, int(exponent ? exponent : 1) - format.bias() - int(mantissa));
}

const float *nereid::sim::valuesOf8(const Format &format) {
  static std::mutex mutex;
  static std::map<std::tuple<unsigned, unsigned, bool>, std::vector<float>> known;
  std::lock_guard lock(mutex);
  std::vector<float> &values = known[{format.mantissaBits, format.exponentBits, format.isFnuz}];
  if (values.empty())
    for (uint64_t bits = 0; bits < 256; ++bits)
      values.push_back(float(decode(bits, format)));
  return values.data();
}
