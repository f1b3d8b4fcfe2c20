// Flags of reductions and scans: those of the elements they combine, and of integer sums that wrap.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Combine.h"
#include "compiler/passes/tt/LaneFlags.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

/// A reduction or scan like `op` of another tile, which combines elements by `Combine`.
template <typename Combine> static Value combined(OpBuilder &builder, Operation *op, Value tile) {
  const Location loc = op->getLoc();
  const Type element = elementOf(tile.getType()), result = withElement(op->getResult(0).getType(), element);
  Operation *combination = nullptr;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    combination = ReduceOp::create(builder, loc, TypeRange{result}, ValueRange{tile}, reduce.getAxis());
  else
    combination = ScanOp::create(builder, loc, TypeRange{result}, ValueRange{tile}, cast<ScanOp>(op).getAxis(),
                                 cast<ScanOp>(op).getReverse());
  const OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&combination->getRegion(0), {}, {element, element}, {loc, loc});
  Value both = Combine::create(builder, loc, body->getArgument(0), body->getArgument(1));
  isa<ReduceOp>(op) ? ReduceReturnOp::create(builder, loc, both).getOperation()
                    : ScanReturnOp::create(builder, loc, both).getOperation();
  return combination->getResult(0);
}

bool tt::isIntegerSum(Operation *op) {
  if (!isa<ReduceOp, ScanOp>(op) || op->getNumOperands() != 1)
    return false;
  const Type element = elementOf(op->getResult(0).getType());
  return element.isInteger() && element.getIntOrFloatBitWidth() > 1 && element.getIntOrFloatBitWidth() < 64 &&
         isa_and_nonnull<arith::AddIOp>(singleCombination(op->getRegion(0).front()));
}

Value tt::anyCombined(OpBuilder &builder, Operation *op, Value flags) {
  return combined<arith::OrIOp>(builder, op, flags);
}

/// 64 bits hold the sum of 2^32 elements.
Value tt::exactSum(OpBuilder &builder, Operation *op, bool isUnsigned) {
  const Location loc = op->getLoc();
  const Type wide = withElement(op->getOperand(0).getType(), builder.getI64Type());
  Value tile = isUnsigned ? arith::ExtUIOp::create(builder, loc, wide, op->getOperand(0)).getResult()
                          : arith::ExtSIOp::create(builder, loc, wide, op->getOperand(0)).getResult();
  return combined<arith::AddIOp>(builder, op, tile);
}
