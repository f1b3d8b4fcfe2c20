// Computes trip counts from the distance of the bounds, which does not overflow as sums of bounds and steps may.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/TripCount.h"
#include "compiler/passes/ttg/LoopParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nereid;

static Value number(OpBuilder &builder, Location loc, Type type, int64_t value) {
  return builder.createOrFold<arith::ConstantOp>(loc, builder.getIntegerAttr(type, value));
}

Value ttg::spanOf(OpBuilder &builder, scf::ForOp loop) {
  const Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value runs = builder.createOrFold<arith::CmpIOp>(loc, comparisonOf(loop), lower, upper);
  Value distance = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
  return builder.createOrFold<arith::SelectOp>(loc, runs, distance, number(builder, loc, distance.getType(), 0));
}

Value ttg::tripCountOf(OpBuilder &builder, scf::ForOp loop) {
  const Location loc = loop.getLoc();
  Value span = spanOf(builder, loop);
  if (const auto step = loop.getConstantStep(); step && step->isOne())
    return span;
  Value one = number(builder, loc, span.getType(), 1), none = number(builder, loc, span.getType(), 0);
  Value whole =
      builder.createOrFold<arith::DivUIOp>(loc, builder.createOrFold<arith::SubIOp>(loc, span, one), loop.getStep());
  Value isNone = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, span, none);
  return builder.createOrFold<arith::SelectOp>(loc, isNone, none, builder.createOrFold<arith::AddIOp>(loc, whole, one));
}
