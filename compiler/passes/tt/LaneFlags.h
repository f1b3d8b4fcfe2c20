// Keeps a flag for each element of tiles and propagates it to values computed from them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/Builders.h"

namespace nereid::tt {

/// Flags of values, i1 in their shape, emitted as ops in program order. Loop-carried values, loads and dots have no
/// flags but their own.
class LaneFlags {
public:
  /// Emits the flags of the op's results after it: those of its operands, combined with `own`. Operands must be visited
  /// first.
  void visit(mlir::Operation *op, mlir::Value own = {});
  /// Emits the flags of a reduction or a scan: a result is flagged where any element that it combines is.
  void visitCombined(mlir::Operation *op, mlir::Value own = {});
  /// The flags of a value; null where none is set.
  mlir::Value of(mlir::Value value) const { return flags.lookup(value); }

private:
  mlir::Value ofSelect(mlir::OpBuilder &builder, mlir::arith::SelectOp select) const;
  mlir::Value ofLogic(mlir::OpBuilder &builder, mlir::Operation *op) const;
  bool move(mlir::OpBuilder &builder, mlir::Operation *op);
  mlir::Value any(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values) const;

  llvm::DenseMap<mlir::Value, mlir::Value> flags;
};

/// The negation of each element, i1.
mlir::Value negated(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value flags);

/// The lanes where a load or an atomic has no defined result, because its mask is false. With `withOther`, lanes that
/// get an `other` count, too. Null where there is no such lane.
mlir::Value maskedOff(mlir::OpBuilder &builder, mlir::Operation *op, bool withOther);

/// The lanes where an addition, a subtraction, a multiplication or a shift to the left of fewer than 64 bits has
/// wrapped.
mlir::Value wrapped(mlir::OpBuilder &builder, mlir::Operation *op, bool isUnsigned);

/// Whether the op is a reduction or a scan that adds integers of fewer than 64 bits.
bool isIntegerSum(mlir::Operation *op);
/// The result of such a sum in 64 bits.
mlir::Value exactSum(mlir::OpBuilder &builder, mlir::Operation *op, bool isUnsigned);
/// Which results of a reduction or a scan combine an element with a flag.
mlir::Value anyCombined(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value flags);

} // namespace nereid::tt
