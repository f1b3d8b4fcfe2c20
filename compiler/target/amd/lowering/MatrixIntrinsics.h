// The matrix instructions as LLVM's intrinsics.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/Tile.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"

#include "llvm/IR/IRBuilder.h"

namespace nereid::amd {

/// A lane's elements along k of an operand of one instruction: a scalar, or a vector of `perLane` elements.
struct MatrixOperand {
  llvm::Value *elements = nullptr;
  tt::ScaleDotElemType format = tt::ScaleDotElemType::E4M3; ///< of floats of at most 8 bits; e2m1 comes in pairs
  llvm::Value *scales = nullptr;                            ///< a word with the lane's scale; null: one
  unsigned scaleByte = 0;                                   ///< of the word
};
struct MatrixOperands {
  MatrixOperand a, b;
};

/// Adds one instruction's products to a lane's accumulators, in the order of its registers.
lowering::Tile multiplyMatrices(llvm::IRBuilder<> &ir, const MatrixInstruction &instruction, const Arch &arch,
                                const MatrixOperands &operands, llvm::ArrayRef<llvm::Value *> accumulators);

} // namespace nereid::amd
