// Bounds a float from the instructions that compute it, so that code for unusual arguments can be left out.
// SPDX-License-Identifier: MIT

#pragma once

namespace llvm {
class Value;
} // namespace llvm

namespace nereid::math {

/// Bounds of a value where it is a number: low <= value <= high, infinities included.
struct FloatRange {
  double low, high;
  bool maybeNan;
};

/// A range of f32 or f64, scalar or vector: of every lane. Looks at a few defining instructions.
FloatRange floatRange(const llvm::Value *x);

} // namespace nereid::math
