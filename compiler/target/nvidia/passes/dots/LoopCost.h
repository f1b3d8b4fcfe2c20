// Estimates how long a loop's iteration keeps each unit of a multiprocessor busy.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cstdint>

namespace nereid::nvidia {

/// Cycles of a Hopper multiprocessor per iteration, all warps together.
struct LoopCost {
  uint64_t tensor = 0;  ///< tensor cores
  uint64_t special = 0; ///< special functions: exponentials, logarithms, roots
};

LoopCost costOf(mlir::scf::ForOp loop);

} // namespace nereid::nvidia
