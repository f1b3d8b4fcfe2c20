// Emits a loop's trip count.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::ttg {

/// The distance from the lower bound to the upper one, zero where that is not above; exact as an unsigned number for
/// any bounds.
mlir::Value spanOf(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
/// The trip count, unsigned, of the induction variable's type.
mlir::Value tripCountOf(mlir::OpBuilder &builder, mlir::scf::ForOp loop);

} // namespace nereid::ttg
