// Addresses and masks of a block of a strided array, to which block pointers and descriptors are expanded.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Builders.h"

namespace nereid::tt {

/// A block of a strided array; integers are i64.
struct StridedBlock {
  mlir::Value base; ///< pointer to the array's first element
  llvm::SmallVector<mlir::Value, 5> shape, strides;
  llvm::SmallVector<mlir::Value, 5> coordinates; ///< for each dimension a tile of rank 1
};

/// first + [0, extent) as a 1-D tile.
mlir::Value coordinatesFrom(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first, int64_t extent);

/// The addresses of the block's elements.
mlir::Value pointersOf(mlir::OpBuilder &builder, mlir::Location loc, const StridedBlock &block);

/// The mask of the coordinates of these dimensions that are inside of the array; null without dimensions.
mlir::Value insideOf(mlir::OpBuilder &builder, mlir::Location loc, const StridedBlock &block,
                     llvm::ArrayRef<int64_t> dims);

} // namespace nereid::tt
