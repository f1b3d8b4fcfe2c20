// Measures the error of an f32 result against a value known in f64.
// SPDX-License-Identifier: MIT

#include "Ulp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::cpu::math::testing {

double ulpError(float result, double exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  constexpr double overflow = 0x1p128;
  if (std::isnan(exact) || std::isnan(result))
    return std::isnan(exact) && std::isnan(result) ? 0 : wrong;
  if (std::isinf(exact))
    return result == exact ? 0 : wrong;
  if (result == 0 && std::signbit(result) != std::signbit(exact))
    return wrong;
  const double limited = std::clamp(exact, -overflow, overflow);
  const double finite = std::isinf(result) ? std::copysign(overflow, result) : result;
  const int exponent = limited == 0 ? -126 : std::clamp(std::ilogb(limited), -126, 127);
  return std::ldexp(std::abs(finite - limited), 23 - exponent);
}

} // namespace nereid::cpu::math::testing
