// Declares what passes that build loops anew have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::ttg {

/// How the loop compares its induction variable with the upper bound.
mlir::arith::CmpIPredicate comparisonOf(mlir::scf::ForOp loop);
/// Emits whether the loop has an iteration (i1).
mlir::Value hasIteration(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
/// Erases the terminator that builders give the body of a loop or a branch without results.
void eraseTerminator(mlir::Block &block);
/// Visits every value that an op or the ops in its regions use.
void forEachOperand(mlir::Operation *op, llvm::function_ref<void(mlir::Value)> visit);

} // namespace nereid::ttg
