// The attribute of ops on padded tiles that holds the extents before padding.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::tt {

/// An array attribute with the extents of each operand before padding; elements at or above them are padding.
inline constexpr llvm::StringLiteral kExtents = "tt.extents";

/// The extents of an operand before padding: its shape where the op lacks the attribute.
inline llvm::ArrayRef<int64_t> existingExtents(mlir::Operation *op, unsigned operand) {
  auto marks = op->getAttrOfType<mlir::ArrayAttr>(kExtents);
  auto own = marks ? llvm::dyn_cast<mlir::DenseI64ArrayAttr>(marks[operand]) : nullptr;
  return own ? own.asArrayRef() : shapeOf(op->getOperand(operand).getType());
}

} // namespace nereid::tt
