// Chooses the layouts of products: matrix instructions where the target has them for the types, else blocks of elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// What matrix instructions there are.
struct MatrixFacts {
  bool hasWarpMma = false; ///< of 16-bit floats, tf32, bytes and f64, by the 32 lanes of a warp
};

/// The layout of a product's result and of what it is added to.
LayoutEncoding accumulatorLayout(tt::DotOp dot, const MatrixFacts &facts, ThreadShape threads);

/// The layout of its operand 0 or 1, given that of its result.
LayoutEncoding operandLayout(tt::DotOp dot, unsigned operand, LayoutEncoding accumulator);

} // namespace nereid::ttg
