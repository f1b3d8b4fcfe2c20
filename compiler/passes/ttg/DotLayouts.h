// Chooses the layouts of dots: those of matrix instructions where the target supports the types, else blocks of
// elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// Bytes of both operands in shared memory.
int64_t bytesOfOperands(tt::DotOpInterface dot);

/// Whether a dot's result becomes an operand of another dot: then rows should stay in one warp.
bool isChained(tt::DotOpInterface dot);

/// Whether a tile is computed from another dot's result, so that it is in registers and not loaded from memory.
bool isComputedFromDot(mlir::Value tile);

/// Splits the dimension in which a warp's part is longest, for matrix instructions of so many rows and columns; warps
/// without work hold copies.
llvm::SmallVector<unsigned> spreadWarps(tt::DotOpInterface dot, unsigned numWarps, unsigned rows, unsigned columns);

/// The layout of a dot's result and accumulator.
LayoutEncoding accumulatorLayout(tt::DotOpInterface dot, const MmaFeatures &features, ThreadCounts threads);

/// The layout of a dot's operand other than its accumulator, given that of its result; null where any works, because it
/// goes to shared memory.
LayoutEncoding operandLayout(tt::DotOpInterface dot, unsigned operand, LayoutEncoding accumulator);

} // namespace nereid::ttg
