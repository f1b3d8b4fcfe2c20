// Computes on bytes four at a time, in words that hold consecutive registers of a tile.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"
#include "compiler/lowering/TtgToLlvm/Tile.h"

#include "mlir/IR/Operation.h"

#include "llvm/ADT/ArrayRef.h"

namespace nereid::lowering {

constexpr unsigned kBytesOfWord = 4;

/// The vector of 32 bits whose elements the values are, in order; null where there is none.
llvm::Value *wordOf(llvm::ArrayRef<llvm::Value *> elements);

/// Whether an op on bytes, elementwise, has a form on words.
bool hasPackedForm(mlir::Operation *op);

/// The op's results for four registers; empty where the operands are not in words, or at most two words each.
Tile emitPacked(IrBuilder &ir, mlir::Operation *op, llvm::ArrayRef<llvm::ArrayRef<llvm::Value *>> operands);

} // namespace nereid::lowering
