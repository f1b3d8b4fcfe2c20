// A property of the regions of reduce, scan and map_elementwise that their plan and emission depend on.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

namespace nereid::cpu {

/// Whether a region has control flow or memory accesses of its own and so runs lane by lane.
bool needsScalars(mlir::Operation *op);

} // namespace nereid::cpu
