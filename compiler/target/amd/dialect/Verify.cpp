// Verifies the ops of `amdg`: shapes, element types and layouts that fit together.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/dialect/Dialect.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::amdg;
using layout::LinearLayout;

LogicalResult BufferLoadToLocalOp::verify() {
  const ttg::MemDescType buffer = getDest().getType();
  auto offsets = cast<RankedTensorType>(getOffsets().getType());
  const Type element = cast<tt::PointerType>(getPtr().getType()).getPointee();
  if (!buffer.getMutableMemory()) // C1
    return emitOpError("writes to shared memory that is not mutable");
  if (buffer.getShape() != offsets.getShape() || buffer.getElementType() != element)
    return emitOpError("copies ") << tt::withElement(offsets, element) << " to " << buffer
                                  << "; both need one shape and element type";
  const Type expected = tt::withElement(offsets, element);
  if (getOther() && getOther().getType() != expected) // C2
    return emitOpError("`other` is ") << getOther().getType() << "; the elements copied are " << expected;
  if (getOther() && !getMask())
    return emitOpError("has `other`, which stands where a mask is false, but no mask");
  return success();
}

/// Lanes and waves move the coordinates of both by the same steps.
static bool haveThreadsAlike(RankedTensorType whole, RankedTensorType part) {
  const LinearLayout a = ttg::linearLayoutOf(whole), b = ttg::linearLayoutOf(part);
  for (StringRef in : {layout::kLane, layout::kWarp, layout::kBlock})
    for (unsigned bit = 0; bit < b.inBits(in); ++bit)
      if (a.basis(in, bit) != b.basis(in, bit))
        return false;
  return true;
}

LogicalResult ExtractSliceOp::verify() {
  auto whole = cast<RankedTensorType>(getSource().getType()), part = cast<RankedTensorType>(getType());
  const ArrayRef<int64_t> offsets = getStaticOffsets();
  if (whole.getRank() != part.getRank() || int64_t(offsets.size()) != whole.getRank() ||
      whole.getElementType() != part.getElementType()) // C1
    return emitOpError("takes ") << part << " at " << offsets.size() << " offsets from " << whole
                                 << "; rank and element type must agree";
  for (auto [dim, offset] : llvm::enumerate(offsets))
    if (offset < 0 || offset % part.getDimSize(dim) || offset + part.getDimSize(dim) > whole.getDimSize(dim))
      return emitOpError("takes ") << part.getDimSize(dim) << " elements from " << offset << " on, of "
                                   << whole.getDimSize(dim) << " along dimension " << dim
                                   << "; a part begins at a multiple of its extent and ends within the tile";
  if (!whole.getEncoding() || whole.getEncoding() != part.getEncoding() || !haveThreadsAlike(whole, part)) // C2
    return emitOpError("takes ") << part << " from " << whole
                                 << "; threads hold the part elsewhere. Take a part that is a multiple of what all "
                                    "waves hold together, or convert the layout first";
  return success();
}

/// Shapes and threads of bytes that hold two values each along `axis`.
static LogicalResult verifyUnpacked(Operation *op, RankedTensorType bytes, RankedTensorType values, int64_t axis) {
  if (axis < 0 || axis >= bytes.getRank())
    return op->emitOpError("axis is ") << axis << "; the tile has " << bytes.getRank() << " dimensions";
  SmallVector<int64_t> shape(bytes.getShape());
  shape[axis] *= 2;
  if (values.getShape() != ArrayRef(shape)) // C1
    return op->emitOpError("makes ") << values << " of " << bytes << "; the result has twice the extent along axis "
                                     << axis;
  if (!bytes.getEncoding() || !values.getEncoding())
    return op->emitOpError("has a tile without a layout");
  const LinearLayout packed = ttg::linearLayoutOf(bytes), unpacked = ttg::linearLayoutOf(values);
  const auto twice = [&](LinearLayout::Coordinates basis) {
    basis[axis] *= 2;
    return basis;
  };
  for (StringRef in : {layout::kLane, layout::kWarp, layout::kBlock}) // C2
    for (unsigned bit = 0; bit < packed.inBits(in); ++bit)
      if (twice(packed.basis(in, bit)) != unpacked.basis(in, bit))
        return op->emitOpError("has values ")
               << values << " in other threads than their bytes " << bytes
               << "; the layout of the values has twice as many elements per thread along axis " << axis;
  return success();
}

LogicalResult UnpackFp4Op::verify() {
  return verifyUnpacked(*this, cast<RankedTensorType>(getInput().getType()), cast<RankedTensorType>(getType()),
                        getAxis());
}

LogicalResult ScaledUpcastFp4Op::verify() {
  auto output = cast<RankedTensorType>(getType());
  if (failed(verifyUnpacked(*this, cast<RankedTensorType>(getInput().getType()), output, getAxis())))
    return failure();
  if (tt::withElement(getScale().getType(), output.getElementType()) != output) // C3
    return emitOpError("has scales ") << getScale().getType() << " for " << output
                                      << "; they need the shape and layout of the result";
  return success();
}

LogicalResult ScaledUpcastFp8Op::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  if (!tt::isFp8(input.getElementType()))
    return emitOpError("converts ") << input << "; elements are fp8";
  for (Type other : {getScale().getType(), getOutput().getType()}) // C1
    if (tt::withElement(other, input.getElementType()) != input)
      return emitOpError("has ") << other << " beside " << input << "; they need one shape and layout";
  return success();
}

LogicalResult SetPriorityOp::verify() {
  if (getPriority() > 3) // C1
    return emitOpError("priority is ") << getPriority() << "; it is 0 to 3";
  return success();
}
