// Verifies and folds the elementwise ops that arith and math do not have.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid::tt;

/// Width in bits of an element; a pointer counts as 64.
static unsigned widthOf(Type element) { return isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth(); }

LogicalResult BitcastOp::verify() {
  Type from = elementOf(getSrc().getType()), to = elementOf(getType());
  if (isa<PointerType>(from) != isa<PointerType>(to)) // C1
    return emitOpError("cannot convert ") << from << " into " << to << "; pointers become integers by ptr_to_int";
  if (widthOf(from) != widthOf(to))
    return emitOpError("cannot convert ") << widthOf(from) << " bits into " << widthOf(to);
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (isHint())
    return {};
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BitcastOp>(); inner && inner.getSrc().getType() == getType())
    return inner.getSrc();
  return {};
}

LogicalResult FpToFpOp::verify() {
  const unsigned from = widthOf(elementOf(getSrc().getType())), to = widthOf(elementOf(getType()));
  if (from > to && !getRounding()) // C1
    return emitOpError("narrowing from ") << from << " to " << to << " bits needs a rounding mode";
  if (from < to && getRounding())
    return emitOpError("widening from ") << from << " to " << to << " bits has no rounding mode";
  return success();
}
