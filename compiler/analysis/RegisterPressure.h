// Estimates the registers of a thread that a function of `ttg` needs at least.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/index/AxisInfo.h"

namespace nereid::analysis {

/// 32-bit registers per thread that hold a tile of this type as it is loaded; scalars take one.
unsigned registersOf(mlir::Type type);

/// The peak of 32-bit registers of tiles at any memory access, reduction, layout conversion or loop. Elementwise ops
/// between those run register by register and need none for whole tiles. With `axes`, addresses and indices that a loop
/// carries count once for each run of neighbours, which the code addresses by constant offsets.
unsigned peakRegisters(tt::FuncOp function, const index::AxisInfoAnalysis *axes = nullptr);

/// Bytes that a thread has in flight: the minimum over the basic blocks that load tiles; 0 where none does.
unsigned bytesInFlight(tt::FuncOp function);

} // namespace nereid::analysis
