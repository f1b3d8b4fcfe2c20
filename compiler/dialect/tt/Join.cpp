// Verifies and folds join, split and cat, and prepares cat for padding.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/EncodingRules.h"
#include "compiler/dialect/tt/Rules.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace nereid::tt;

Shape nereid::tt::joinedShape(ShapeRef half) {
  Shape shape(half);
  shape.push_back(2);
  return shape;
}

FailureOr<Shape> nereid::tt::splitShape(ShapeRef whole, const RuleReporter &reporter) {
  if (whole.empty() || whole.back() != 2)
    return reporter.fail(diag::SplitExtent, reporter.typeName(0));
  return Shape(whole.drop_back());
}

/// Whether `whole` is `part` with a further last dimension of extent 2.
static bool isJoined(Type part, Type whole) {
  return !shapeOf(part).empty() && shapeOf(whole) == ShapeRef(joinedShape(shapeOf(part))) &&
         elementOf(part) == elementOf(whole);
}

LogicalResult JoinOp::verify() {
  if (!isJoined(getLhs().getType(), getType())) // C1
    return emitOpError("result ") << getType() << " is not " << getLhs().getType() << " with a last dimension of 2";
  return verifyHalves(*this, getLhs().getType(), getType()); // C2
}

/// The last index of the result tells the operand.
ElementMap JoinOp::getElementMap(unsigned, unsigned) { return identityMap(shapeOf(getLhs().getType()).size()); }

LogicalResult SplitOp::verify() {
  if (failed(splitShape(shapeOf(getSrc().getType()), OpReporter(*this)))) // C1
    return failure();
  if (!isJoined(getOutLHS().getType(), getSrc().getType())) // C2
    return emitOpError("result ") << getOutLHS().getType() << " is not " << getSrc().getType()
                                  << " without its last dimension";
  return verifyHalves(*this, getOutLHS().getType(), getSrc().getType()); // C3
}

ElementMap SplitOp::getElementMap(unsigned, unsigned result) {
  ElementMap map = identityMap(shapeOf(getOutLHS().getType()).size());
  map.push_back(ElementIndex::fixed(result));
  return map;
}

LogicalResult SplitOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  auto join = getSrc().getDefiningOp<JoinOp>();
  if (!join || join.getLhs().getType() != getOutLHS().getType())
    return failure();
  results.assign({join.getLhs(), join.getRhs()});
  return success();
}

LogicalResult CatOp::verify() {
  ArrayRef<int64_t> part = shapeOf(getLhs().getType()), whole = shapeOf(getType());
  if (part.size() != 1 || whole.size() != 1 || whole[0] != 2 * part[0] || // C1
      elementOf(getLhs().getType()) != elementOf(getType()))
    return emitOpError("result ") << getType() << " does not hold two times " << getLhs().getType();
  return verifyHalves(*this, getLhs().getType(), getType()); // C2
}

ElementMap CatOp::getElementMap(unsigned, unsigned) { return {ElementIndex::unknown()}; }

/// Concatenates in row order, one of the orders that the op allows.
LogicalResult CatOp::prepareForPadding() {
  ImplicitLocOpBuilder builder(getLoc(), *this);
  auto type = cast<RankedTensorType>(getLhs().getType());
  const int64_t count = type.getNumElements();
  Value pairs = JoinOp::create(builder, type.clone({count, 2}), getLhs(), getRhs());
  Value rows = TransOp::create(builder, type.clone({2, count}), pairs, ArrayRef<int32_t>{1, 0});
  Value whole = ReshapeOp::create(builder, cast<RankedTensorType>(getType()), rows, false, false);
  (*this)->replaceAllUsesWith(ValueRange(whole));
  erase();
  return success();
}
