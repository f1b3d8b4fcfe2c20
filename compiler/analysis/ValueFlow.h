// Follows values through loops and branches.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::analysis {

/// Calls `visit` for each operand that the loop or branch `op` may forward, its own first and then those of terminators
/// in its regions, with each region argument or result that it may become.
void forEachForwarded(mlir::RegionBranchOpInterface op,
                      llvm::function_ref<void(mlir::OpOperand &from, mlir::Value to)> visit);

/// The values that a loop or branch may forward to `value`; nothing for other values, among them induction variables.
llvm::SmallVector<mlir::Value, 2> forwardedTo(mlir::Value value);

/// The region arguments and results that an operand of a loop, a branch or a terminator may become; nothing for other
/// operands.
llvm::SmallVector<mlir::Value, 2> forwardedFrom(mlir::OpOperand &operand);

} // namespace nereid::analysis
