// Measures the error of a result against a more exact value.
// SPDX-License-Identifier: MIT

#pragma once

namespace nereid::math::testing {

/// Distance in units in the last place of `exact` as an f32; overflow counts as 2^128. Infinite for a NaN or an
/// infinity on one side only, and for a zero of the wrong sign.
double ulpError(float result, double exact);
/// The same distance for f64.
double wideUlpError(double result, long double exact);

} // namespace nereid::math::testing
