// How many turns a loop has, as IR.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::ttg {

/// What is left from the lower bound up to the upper one, zero where that is not above; exact as an unsigned number,
/// whatever the bounds.
mlir::Value spanOf(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
/// The number of turns, unsigned, of the induction variable's type.
mlir::Value tripCountOf(mlir::OpBuilder &builder, mlir::scf::ForOp loop);

} // namespace nereid::ttg
