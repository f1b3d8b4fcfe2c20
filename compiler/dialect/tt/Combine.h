// What reductions and scans share: operands of one shape, and a region that combines two elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

namespace nereid::tt {

/// There is at least one tile, and all tiles have one shape and encoding.
llvm::LogicalResult verifyCombined(mlir::Operation *op, mlir::ValueRange tiles);
/// `body` takes two scalars of each tile's element type and returns one. `end` is its terminator, or null where the
/// terminator is not the op's own.
llvm::LogicalResult verifyCombineRegion(mlir::Operation *op, mlir::ValueRange tiles, mlir::Block &body,
                                        mlir::Operation *end);
/// The one op of two operands of which a combine region for one tile consists; null for other regions.
mlir::Operation *singleCombination(mlir::Block &body);

} // namespace nereid::tt
