// Estimates the registers of a thread that a function of `ttg` cannot do without.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::analysis {

/// 32-bit registers of one thread that hold a tile of this type as it comes from memory; scalars take one.
unsigned registersOf(mlir::Type type);

/// The most 32-bit registers that tiles take at any access to memory, reduction, change of layout or loop. Between
/// those, elementwise ops follow each other register by register and take none for whole tiles.
unsigned peakRegisters(tt::FuncOp function);

/// Bytes that a thread loads at a time: the least over the blocks of code that load tiles; 0 where none does.
unsigned bytesInFlight(tt::FuncOp function);

} // namespace nereid::analysis
