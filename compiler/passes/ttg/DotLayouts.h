// Chooses the layouts of dots: those of matrix instructions where the target supports the types, else blocks of
// elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// The matrix instructions that the target has.
struct MmaFeatures {
  bool hasWarpMma = false;      ///< mma: 16-bit floats, tf32, int8 and f64, by the 32 lanes of a warp
  bool hasWarpGroupMma = false; ///< wgmma: fp8, 16-bit floats, tf32 and int8, by four warps, from shared memory
  unsigned maxSharedBytes = 0;  ///< of a CTA, which the operands of a warp-group dot must fit
};

/// Bytes of both operands in shared memory.
int64_t bytesOfOperands(tt::DotOp dot);

/// The layout of a dot's result and accumulator.
LayoutEncoding accumulatorLayout(tt::DotOp dot, const MmaFeatures &features, ThreadCounts threads);

/// The layout of a dot's operand 0 or 1, given that of its result; null where any works, because it goes to shared
/// memory.
LayoutEncoding operandLayout(tt::DotOp dot, unsigned operand, LayoutEncoding accumulator);

} // namespace nereid::ttg
