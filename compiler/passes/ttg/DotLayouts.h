// Chooses the layouts of products: matrix instructions where the target has them for the types, else blocks of
// elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// What matrix instructions there are.
struct MmaFeatures {
  bool hasWarpMma = false;      ///< of 16-bit floats, tf32, bytes and f64, by the 32 lanes of a warp
  bool hasWarpGroupMma = false; ///< of floats of 8 and 16 bits, tf32 and bytes, by four warps, from shared memory
  unsigned maxSharedBytes = 0;  ///< of a block, which the operands of a product by groups must fit
};

/// Bytes that both operands take in shared memory.
int64_t bytesOfOperands(tt::DotOp dot);

/// The layout of a product's result and of what it is added to.
LayoutEncoding accumulatorLayout(tt::DotOp dot, const MmaFeatures &features, ThreadCounts threads);

/// The layout of its operand 0 or 1, given that of its result; null where any will do, as it goes to shared memory.
LayoutEncoding operandLayout(tt::DotOp dot, unsigned operand, LayoutEncoding accumulator);

} // namespace nereid::ttg
