// Verifies and pads gather and histogram.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/PaddedTiles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid::tt;

LogicalResult GatherOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType()), result = cast<RankedTensorType>(getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  const int64_t axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= source.getRank()) // C1
    return emitOpError("axis ") << axis << " is outside [0, " << source.getRank() << ")";
  if (source.getRank() != indices.getRank())
    return emitOpError("source ") << source << " and indices " << indices << " have different ranks";
  for (int64_t dim = 0; dim < source.getRank(); ++dim) // C2
    if (dim != axis && source.getDimSize(dim) != indices.getDimSize(dim))
      return emitOpError("source ") << source << " and indices " << indices << " differ in dimension " << dim;
  if (indices.getShape() != result.getShape() || indices.getEncoding() != result.getEncoding() || // C3
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

LogicalResult HistogramOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType()), result = cast<RankedTensorType>(getType());
  if (source.getRank() != 1 || result.getRank() != 1) // C1
    return emitOpError("operand ") << source << " and result " << result << " must have one dimension";
  return success();
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
