// Verifies and pads gather and histogram.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/PaddedTiles.h"
#include "compiler/dialect/tt/Rules.h"
#include "compiler/dialect/tt/TypeName.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid::tt;

/// C1 and C2.
FailureOr<Shape> nereid::tt::gatherShape(ShapeRef source, ShapeRef indices, int64_t axis,
                                         const RuleReporter &reporter) {
  if (source.size() != indices.size())
    return reporter.fail(diag::GatherRank, reporter.typeName(0), reporter.typeName(1));
  for (auto [dim, extent, count] : llvm::enumerate(source, indices))
    if (static_cast<int64_t>(dim) != axis && extent != count)
      return reporter.fail(diag::GatherShape, shapeText(indices), shapeText(source), dim);
  return Shape(indices);
}

LogicalResult GatherOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType()), result = cast<RankedTensorType>(getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  const int64_t axis = static_cast<int32_t>(getAxis());
  if (failed(checkAxis(axis, source.getRank(), 0, OpReporter(*this)))) // C1
    return failure();
  auto shape = gatherShape(source.getShape(), indices.getShape(), axis, OpReporter(*this));
  if (failed(shape))
    return failure();
  if (ShapeRef(*shape) != result.getShape() || indices.getEncoding() != result.getEncoding() || // C3
      source.getElementType() != result.getElementType())
    return emitOpError("result ") << result << " does not have the shape of " << indices << " and the elements of "
                                  << source;
  return success();
}

ElementMap GatherOp::getElementMap(unsigned operand, unsigned) {
  ElementMap map = identityMap(shapeOf(getType()).size());
  if (operand == getSrcMutable().getOperandNumber())
    map[getAxis()] = ElementIndex::any();
  return map;
}

OperandRange GatherOp::getElementSources() { return getOperands().take_front(); }

LogicalResult nereid::tt::checkHistogram(ShapeRef source, const RuleReporter &reporter) {
  return source.size() == 1 ? success() : reporter.fail(diag::HistogramRank, reporter.typeName(0));
}

LogicalResult HistogramOp::verify() {
  if (shapeOf(getType()).size() != 1)
    return emitOpError("result ") << getType() << " must have one dimension";
  return checkHistogram(shapeOf(getSrc().getType()), OpReporter(*this)); // C1
}

LogicalResult ScatterAddOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType()), result = cast<RankedTensorType>(getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (source.getRank() != 1 || result.getRank() != 1 || source.getShape() != indices.getShape()) // C1
    return emitOpError("operands ") << source << " and " << indices << " must have one shape of one dimension, and so "
                                    << "must the result " << result;
  if (source.getElementType() != result.getElementType()) // C2
    return emitOpError("adds elements of type ") << source.getElementType() << " to " << result;
  return success();
}

//--- padding -------------------------------------------------------------------------------

/// An index outside of the source still returns one of the source's elements.
void GatherOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  const int64_t last = operands.front()[getAxis()] - 1;
  const unsigned bits = elementOf(getIndices().getType()).getIntOrFloatBitWidth();
  if (llvm::isPowerOf2_64(last + 1) || !llvm::isUIntN(bits, last))
    return;
  PaddedBuilder builder(*this);
  Value limit = builder.constant(getIndices().getType(), llvm::SignExtend64(last, bits));
  getIndicesMutable().assign(arith::MinUIOp::create(builder.builder, getIndices(), limit));
}

void ScatterAddOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  if (needsPadding(operands.front()))
    maskPadding(*this, getMaskMutable(), operands.front());
}

void HistogramOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  if (needsPadding(operands.front()))
    maskPadding(*this, getMaskMutable(), operands.front());
}
