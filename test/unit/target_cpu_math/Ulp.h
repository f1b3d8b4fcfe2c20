// Measures the error of an f32 result against a value known in f64.
// SPDX-License-Identifier: MIT

#pragma once

namespace nereid::cpu::math::testing {

/// Distance in units in the last place of `exact` as an f32; overflow counts as 2^128. Infinite for a NaN or an
/// infinity on one side only, and for a zero of the wrong sign.
double ulpError(float result, double exact);

} // namespace nereid::cpu::math::testing
