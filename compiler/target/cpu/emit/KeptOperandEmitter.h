// Emits the choice of where a program keeps its tiles of dots' operands, and whether an earlier one has made them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// The tiles of a kept operand in the call of a kernel, and the one of the current iteration.
struct KeptTiles {
  llvm::Value *first = nullptr; ///< the address of the first
  llvm::Value *state = nullptr; ///< the address of its words in the arena
  llvm::AllocaInst *key = nullptr;
  // Of the current iteration:
  llvm::Value *iteration = nullptr; ///< its number
  llvm::Value *isKept = nullptr;    ///< whether the tile was made before; null until that is known
  llvm::Value *isOwn = nullptr;     ///< whether no other iteration of the program has this tile
  llvm::Value *next = nullptr;      ///< the address of the next iteration's tile
};

class KeptOperandEmitter {
public:
  explicit KeptOperandEmitter(EmitContext &context) : context(context), ir(context.ir) {}

  /// Before the first program of a call: what the call before has left, or nothing. A launch of one program keeps
  /// nothing.
  void begin(llvm::Value *isOneProgram);
  /// After the last program of a call: the next call of the launch may go on with what this one leaves.
  void end();
  void beginIteration(mlir::scf::ForOp loop, llvm::Value *iteration);
  void endIteration(mlir::scf::ForOp loop);
  /// Emits what makes the nest's tile under the condition that it is not kept.
  mlir::LogicalResult emitUnlessKept(const Nest &nest, llvm::function_ref<mlir::LogicalResult()> makeTile);

  /// The tiles in the buffer; null where it has none.
  const KeptTiles *tilesIn(BufferId buffer) const;
  /// The tiles that the dot's loop computes from the load; null where it keeps none, or has not come to the tile.
  const KeptTiles *tilesOf(mlir::Operation *load, mlir::Operation *dot) const;

private:
  void storeKey(const KeptOperand &operand, const KeptTiles &state);
  /// Calls nereid_kept_tile of the library.
  llvm::Value *callTile(llvm::ArrayRef<llvm::Value *> arguments);

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  llvm::SmallVector<KeptTiles, 2> keptTiles; ///< by index of LoopPlan::keptOperands
};

} // namespace nereid::cpu
