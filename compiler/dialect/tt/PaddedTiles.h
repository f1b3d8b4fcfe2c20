// Helps to pad tiles: extents rounded up to powers of two, and masks of the elements that exist.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Extents.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nereid::tt {

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

/// Narrows the mask of `op` to elements that exist.
void maskPadding(mlir::Operation *op, mlir::MutableOperandRange mask, llvm::ArrayRef<int64_t> extents);
/// Marks an op without a mask with the extents of its operands.
void markExtents(mlir::Operation *op, llvm::ArrayRef<Extents> operands);
/// Fails where a function applied to padding would have effects.
llvm::LogicalResult rejectEffects(mlir::Operation *op);

} // namespace nereid::tt
