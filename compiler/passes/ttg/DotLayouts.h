// Chooses the layouts of dots: those of matrix instructions where the target supports the types, else blocks of
// elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// Bytes of both operands in shared memory.
int64_t bytesOfOperands(tt::DotOp dot);

/// The layout of a dot's result and accumulator.
LayoutEncoding accumulatorLayout(tt::DotOp dot, const MmaFeatures &features, ThreadCounts threads);

/// The layout of a dot's operand 0 or 1, given that of its result; null where any works, because it goes to shared
/// memory.
LayoutEncoding operandLayout(tt::DotOp dot, unsigned operand, LayoutEncoding accumulator);

} // namespace nereid::ttg
