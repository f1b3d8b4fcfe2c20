// The mark of ops on tiles that are larger than what they stand for.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::tt {

/// An array attribute: for each operand the extents below which its elements exist.
inline constexpr llvm::StringLiteral kExtents = "tt.extents";

/// The extents below which an operand's elements exist: its shape where the op has no mark.
inline llvm::ArrayRef<int64_t> existingExtents(mlir::Operation *op, unsigned operand) {
  auto marks = op->getAttrOfType<mlir::ArrayAttr>(kExtents);
  auto own = marks ? llvm::dyn_cast<mlir::DenseI64ArrayAttr>(marks[operand]) : nullptr;
  return own ? own.asArrayRef() : shapeOf(op->getOperand(operand).getType());
}

} // namespace nereid::tt
