// A flag for each element of tiles, carried along with what is computed from them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/Builders.h"

namespace nereid::tt {

/// Flags for values, i1 in their shape; made as ops in the order of the program. What loops carry, what is loaded, and
/// what a reduction or a product gives, has none but its own.
class LaneFlags {
public:
  /// Makes the flags of the op's results, which go behind it: those of its operands, and its `own`. Its operands'
  /// come first.
  void visit(mlir::Operation *op, mlir::Value own = {});
  /// Null where no flag is set.
  mlir::Value of(mlir::Value value) const { return flags.lookup(value); }

private:
  mlir::Value ofSelect(mlir::OpBuilder &builder, mlir::arith::SelectOp select) const;
  mlir::Value ofLogic(mlir::OpBuilder &builder, mlir::Operation *op) const;
  mlir::Value moved(mlir::OpBuilder &builder, mlir::Operation *op) const;
  mlir::Value any(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values) const;

  llvm::DenseMap<mlir::Value, mlir::Value> flags;
};

/// The opposite of each element, i1.
mlir::Value negated(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value flags);

/// Where a load or an atomic gives nothing that is defined: its mask lets the lane out. With `withOther`, lanes that
/// get an `other` count, too. Null where there is no such lane.
mlir::Value maskedOff(mlir::OpBuilder &builder, mlir::Operation *op, bool withOther);

/// Where the result of an addition, a subtraction or a multiplication of fewer than 64 bits has wrapped.
mlir::Value wrapped(mlir::OpBuilder &builder, mlir::Operation *op, bool isUnsigned);

} // namespace nereid::tt
