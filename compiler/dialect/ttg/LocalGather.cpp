// Verifies accesses to buffers by indices, and states the scratch memory of atomic ones.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/Buffers.h"
#include "compiler/dialect/ttg/OwnersResults.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
struct IndexedAccess {
  Operation *op;
  MemDescType buffer;
  Value indices, elements; ///< the values, or the result
  int64_t axis;
};
} // namespace

static LogicalResult verifyAccess(const IndexedAccess &access) {
  Operation *op = access.op;
  auto indices = cast<RankedTensorType>(access.indices.getType()),
       elements = cast<RankedTensorType>(access.elements.getType());
  const ArrayRef<int64_t> shape = access.buffer.getShape();
  if (!indices.getElementType().isIntOrIndex()) // C1
    return op->emitOpError("indices are ") << indices.getElementType() << ", no integers";
  if (indices.getShape().size() != shape.size() || laidOutShape(access.buffer).size() != shape.size())
    return op->emitOpError("indices have ") << indices.getShape().size() << " dimensions, the buffer " << shape.size()
                                            << ", its encoding " << laidOutShape(access.buffer).size();
  if (access.axis < 0 || access.axis >= int64_t(shape.size())) // C3
    return op->emitOpError("axis ") << access.axis << " is no dimension of a buffer of " << shape.size();
  for (auto [dim, extent, whole] : llvm::enumerate(indices.getShape(), shape))
    if (int64_t(dim) != access.axis && extent > whole)
      return op->emitOpError("indices have extent ")
             << extent << " in dimension " << dim << ", the buffer has " << whole;
  const layout::LinearLayout inBuffer = layoutOf(access.buffer);
  for (unsigned bit = 0; bit < inBuffer.inBits(layout::kBlock); ++bit)
    if (inBuffer.basis(layout::kBlock, bit)[access.axis])
      return op->emitOpError("the CTAs of the cluster hold different parts of dimension ")
             << access.axis << ", and an index may name one of another CTA; split the buffer along another dimension";
  if (elements.getShape() != indices.getShape() || elements.getEncoding() != indices.getEncoding()) // C2
    return op->emitOpError("elements ") << elements << " differ in shape or encoding from indices " << indices;
  if (elements.getElementType() != access.buffer.getElementType())
    return op->emitOpError("elements are ")
           << elements.getElementType() << ", the buffer's " << access.buffer.getElementType();
  return success();
}

LogicalResult LocalGatherOp::verify() {
  return verifyAccess({*this, getSrc().getType(), getIndices(), getResult(), getAxis()});
}

LogicalResult LocalScatterOp::verify() {
  if (!getDst().getType().getMutableMemory()) // C4
    return emitOpError("writes to a buffer that is not mutable");
  return verifyAccess({*this, getDst().getType(), getIndices(), getValues(), getAxis()});
}

//--- atomic --------------------------------------------------------------------------------

bool LocalAtomicScatterRMWOp::isCommutative() {
  return getResult().use_empty() && getAtomicRmwOp() != tt::RMWOp::XCHG && getAtomicRmwOp() != tt::RMWOp::FADD;
}

LogicalResult LocalAtomicScatterRMWOp::verify() {
  if (!getDst().getType().getMutableMemory()) // C4
    return emitOpError("writes to a buffer that is not mutable");
  if (failed(verifyAccess({*this, getDst().getType(), getIndices(), getValues(), getAxis()})))
    return failure();
  auto values = cast<RankedTensorType>(getValues().getType());
  if (getType() != values) // C2
    return emitOpError("result ") << getType() << " differs from values " << values;
  auto mask = getMask() ? cast<RankedTensorType>(getMask().getType()) : RankedTensorType();
  if (mask && (mask.getShape() != values.getShape() || mask.getEncoding() != values.getEncoding() ||
               !mask.getElementType().isInteger(1)))
    return emitOpError("mask ") << mask << " does not fit values " << values;
  const Type element = values.getElementType();
  const tt::RMWOp kind = getAtomicRmwOp();
  const bool isFloat = isa<FloatType>(element), isInteger = isa<IntegerType>(element);
  if (kind == tt::RMWOp::XCHG ? isFloat || isInteger : kind == tt::RMWOp::FADD ? isFloat : isInteger) // C5
    return success();
  return emitOpError() << tt::stringifyRMWOp(kind) << " does not combine elements of type " << element;
}

Scratch LocalAtomicScatterRMWOp::getScratch() {
  return Scratch::writtenOnce(getResult().use_empty() ? 0 : bytesForOwnersResults(cast<RankedTensorType>(getType())));
}
