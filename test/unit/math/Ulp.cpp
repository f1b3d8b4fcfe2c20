// Measures the error of a result against a more exact value.
// SPDX-License-Identifier: MIT

#include "Ulp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::math::testing {

/// `Exact` has the precision and range to hold a value that rounds to `Result`.
template <typename Result, typename Exact> static double errorOf(Result result, Exact exact) {
  using Limits = std::numeric_limits<Result>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  const Exact overflow = std::ldexp(Exact(1), Limits::max_exponent);
  if (std::isnan(exact) || std::isnan(result))
    return std::isnan(exact) && std::isnan(result) ? 0 : wrong;
  if (std::isinf(exact))
    return result == exact ? 0 : wrong;
  if (result == 0 && std::signbit(result) != std::signbit(exact))
    return wrong;
  const Exact limited = std::clamp(exact, -overflow, overflow);
  const Exact finite = std::isinf(result) ? std::copysign(overflow, Exact(result)) : Exact(result);
  constexpr int lowest = Limits::min_exponent - 1, highest = Limits::max_exponent - 1;
  const int exponent = limited == 0 ? lowest : std::clamp(std::ilogb(limited), lowest, highest);
  return static_cast<double>(std::ldexp(std::abs(finite - limited), Limits::digits - 1 - exponent));
}

double ulpError(float result, double exact) { return errorOf(result, exact); }
double wideUlpError(double result, long double exact) { return errorOf(result, exact); }

} // namespace nereid::math::testing
