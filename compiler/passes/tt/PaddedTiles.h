// Helps to pad tiles: extents rounded up to powers of two, and masks of the elements that exist.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nereid::tt {

using Extents = llvm::SmallVector<int64_t, 4>;

/// Whether an extent is not a power of two.
bool needsPadding(llvm::ArrayRef<int64_t> extents);
/// The extents rounded up to powers of two.
Extents paddedExtents(llvm::ArrayRef<int64_t> extents);
/// The type with such extents; types other than tiles are unchanged.
mlir::Type paddedType(mlir::Type type);

/// Builds values before one op.
class PaddedBuilder {
public:
  explicit PaddedBuilder(mlir::Operation *op) : builder(op->getLoc(), op) {}

  /// Each element's coordinate in one dimension, as i32.
  mlir::Value coordinates(llvm::ArrayRef<int64_t> shape, unsigned dim);
  /// i1: whether all coordinates are below the extents.
  mlir::Value existing(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> extents);
  /// The tile, with `other` in place of elements that do not exist.
  mlir::Value onlyExisting(mlir::Value tile, llvm::ArrayRef<int64_t> extents, mlir::Attribute other);
  mlir::Value constant(mlir::Type type, mlir::Attribute element);
  mlir::Value constant(mlir::Type type, int64_t element);

  mlir::ImplicitLocOpBuilder builder;

private:
  mlir::Value along(mlir::Value line, llvm::ArrayRef<int64_t> shape, unsigned dim);
};

/// Excludes elements that do not exist from a reduction, or from a reverse scan. The extents are those of the operands
/// before padding.
void padReduce(ReduceOp op, llvm::ArrayRef<int64_t> extents);
void padScan(ScanOp op, llvm::ArrayRef<int64_t> extents);

/// Moves elements to their coordinates in the padded result.
void padReshape(ReshapeOp op, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace nereid::tt
