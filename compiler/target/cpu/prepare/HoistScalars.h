// The values that are known before a loop, once scalars have been hoisted.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

namespace nereid::cpu {

/// Whether the value, which is visible in the loop's block, is defined before the loop.
inline bool isDefinedBefore(mlir::Value value, mlir::Operation *loop) {
  mlir::Operation *op = value.getDefiningOp();
  return !op || op->getBlock() != loop->getBlock() || op->isBeforeInBlock(loop);
}

} // namespace nereid::cpu
