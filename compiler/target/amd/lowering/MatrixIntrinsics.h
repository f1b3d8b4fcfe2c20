// The matrix instructions as LLVM's intrinsics.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/Tile.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"

#include "llvm/IR/IRBuilder.h"

namespace nereid::amd {

/// A lane's elements along k of the operands of one instruction: a scalar, or a vector of `perLane` elements. The
/// formats tell two kinds of fp8 apart.
struct MatrixOperands {
  llvm::Value *a = nullptr, *b = nullptr;
  bool isAE4m3 = false, isBE4m3 = false;
};

/// Adds one instruction's products to a lane's accumulators, in the order of its registers.
lowering::Tile multiplyMatrices(llvm::IRBuilder<> &ir, const MatrixInstruction &instruction, const Arch &arch,
                                const MatrixOperands &operands, llvm::ArrayRef<llvm::Value *> accumulators);

} // namespace nereid::amd
