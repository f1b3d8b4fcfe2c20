// Emits the choice of where a program keeps its tiles of dots' operands, and whether an earlier one has made them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// The tiles of a kept operand in the call of a kernel, and the one of the current iteration.
struct KeptTiles {
  llvm::Value *first = nullptr; ///< the address of the first
  // The addresses of what changes from program to program:
  llvm::Value *tilesOfSet = nullptr; ///< iterations with a tile of their own
  llvm::Value *sets = nullptr;       ///< that hold tiles
  llvm::Value *set = nullptr;        ///< of the current program
  llvm::Value *wasFound = nullptr;   ///< whether a program has found its tiles in that set since it was made
  llvm::Value *misses = nullptr;     ///< programs in succession that found nothing kept
  llvm::Value *isOff = nullptr;      ///< whether those were too many
  llvm::Value *seen = nullptr;       ///< programs whose first key is noted
  llvm::Value *comesBack = nullptr;  ///< whether a later program had a noted key
  llvm::SmallVector<llvm::AllocaInst *, KeptOperand::stateWords> variables; ///< all of these
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
  /// After the last program of a call: what the next call of the launch begins with.
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
  using Key = llvm::ArrayRef<llvm::Value *>;

  llvm::Value *keyOf(const KeptOperand &operand, llvm::Value *tile);
  llvm::Value *hasKey(const KeptOperand &operand, llvm::Value *tile, Key key);
  void storeKey(const KeptOperand &operand, llvm::Value *tile, Key key);
  llvm::Value *findKey(const KeptOperand &operand, llvm::Value *first, llvm::Value *distance, llvm::Value *count,
                       Key key);
  void noteKey(const KeptOperand &operand, KeptTiles &state, Key key);
  void makeSet(const KeptOperand &operand, KeptTiles &state, llvm::Value *most, llvm::Value *wasFound);
  void chooseSet(const KeptOperand &operand, KeptTiles &state, Key key);
  llvm::Value *chooseTile(const KeptOperand &operand, KeptTiles &state, Key key);

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  llvm::SmallVector<KeptTiles, 2> keptTiles; ///< by index of LoopPlan::keptOperands
};

} // namespace nereid::cpu
