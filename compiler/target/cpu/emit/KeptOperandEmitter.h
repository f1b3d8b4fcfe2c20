// Emits the choice of where a program keeps its tiles of dots' operands, and whether an earlier one has made them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// The tiles of a kept operand in the call of a kernel, and the one of the current iteration.
struct KeptTiles {
  llvm::Value *first = nullptr; ///< the address of the first tile
  llvm::Value *state = nullptr; ///< the address of the operand's `struct Kept` in the arena
  llvm::AllocaInst *key = nullptr;
  // Of the current iteration:
  llvm::Value *iteration = nullptr; ///< the number of the iteration
  llvm::Value *isKept = nullptr;    ///< whether the tile was made before; null until that is known
  llvm::Value *isOwn = nullptr;     ///< whether no other iteration of the program has this tile
  llvm::Value *next = nullptr;      ///< the address of the next iteration's tile
};

class KeptOperandEmitter {
public:
  explicit KeptOperandEmitter(EmitContext &context) : context(context), ir(context.ir) {}

  /// Before the first program of a call: takes over the tiles of the call before. A launch of one program keeps none.
  void begin(llvm::Value *isOneProgram);
  /// After the last program of a call: leaves the tiles to the next call of the launch.
  void end();
  void beginIteration(mlir::scf::ForOp loop, llvm::Value *iteration);
  void endIteration(mlir::scf::ForOp loop);
  /// Emits the nest's tile under the condition that it is not kept.
  mlir::LogicalResult emitUnlessKept(const Nest &nest, llvm::function_ref<mlir::LogicalResult()> makeTile);

  /// The kept tiles in the buffer; null for a buffer of other contents.
  const KeptTiles *tilesIn(BufferId buffer) const;
  /// The kept tiles that the dot's loop computes from the load; null where it keeps none, or before the current
  /// iteration's tile has been chosen.
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
