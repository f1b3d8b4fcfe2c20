// Moves the computation of a dot's operand from before the dot to the step along k that needs it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "llvm/ADT/DenseSet.h"

namespace nereid::amd {

class OperandSinker {
public:
  /// Call it before the dot's first instruction.
  OperandSinker(lowering::IrBuilder &ir, unsigned sharedAddressSpace);

  /// Whether `elements` are computed from values that take fewer registers than they do.
  bool savesRegisters(llvm::ArrayRef<llvm::Value *> elements) const;
  /// Moves the instructions that compute `elements`, and nothing else, to the end of the basic block. The dot writes no
  /// memory.
  void sinkToEnd(llvm::ArrayRef<llvm::Value *> elements) const;

private:
  struct Computation;
  Computation computationOf(llvm::ArrayRef<llvm::Value *> elements) const;
  bool canMove(const llvm::Instruction &instruction) const;

  lowering::IrBuilder &ir;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> blocks; ///< executed together, the last one first
  llvm::DenseSet<const llvm::Instruction *> readsOfLds;      ///< after which nothing is written
};

} // namespace nereid::amd
