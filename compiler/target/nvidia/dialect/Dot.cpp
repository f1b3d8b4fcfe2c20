// Verifies warp-group dots and the waits for them.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/layout/Mma.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttng;
using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

static ArrayRef<int64_t> shapeOf(Type type) {
  auto buffer = dyn_cast<ttg::MemDescType>(type);
  return buffer ? buffer.getShape() : cast<RankedTensorType>(type).getShape();
}

static Type elementOf(Type type) {
  auto buffer = dyn_cast<ttg::MemDescType>(type);
  return buffer ? buffer.getElementType() : cast<RankedTensorType>(type).getElementType();
}

//--- elements ------------------------------------------------------------------------------

bool ttng::hasWgmmaInstruction(Type a, Type b, Type sum, tt::InputPrecision precision) {
  if (a.isInteger(8))
    return b == a && sum.isInteger(32);
  if (!sum.isF32())
    return false;
  if (tt::isOcpFp8(a))
    return tt::isOcpFp8(b);
  if (a.isF32())
    return b == a && precision == tt::InputPrecision::TF32;
  return b == a && (a.isF16() || a.isBF16());
}

//--- warp_group_dot ------------------------------------------------------------------------

/// C4: the encoding, and the dimension along which rows run.
static LogicalResult verifyBuffer(WarpGroupDotOp op, StringRef name, ttg::MemDescType buffer, bool isLeft) {
  auto encoding = dyn_cast<ttg::NvmmaSharedAttr>(buffer.getEncoding());
  if (!encoding || encoding.getRank() != 2)
    return op.emitOpError("`") << name << "` has no encoding of a matrix in shared memory: " << buffer;
  const unsigned bits = encoding.getElementBitWidth();
  if (encoding.getTransposed() == isLeft && !readsEitherWay(bits))
    return op.emitOpError("rows of `") << name << "` run along " << (isLeft ? "M" : "N") << ", but elements of " << bits
                                       << " bits are read along K";
  return success();
}

/// C6: M, N and K are multiples of what all warps multiply at a time.
static LogicalResult verifyExtents(WarpGroupDotOp op, ttg::NvidiaMmaAttr mma, unsigned elemBits) {
  ArrayRef<int64_t> shape = shapeOf(op.getType());
  const int64_t depth = shapeOf(op.getA().getType())[1];
  const unsigned rows = mma.getWarpsPerCTA()[0] * layout::kMmaRows;
  const unsigned columns = mma.getWarpsPerCTA()[1] * mma.getInstrShape()[1];
  if (shape[0] % rows || shape[1] % columns)
    return op.emitOpError("the result is [")
           << shape[0] << ", " << shape[1] << "], but the warps multiply [" << rows << ", " << columns << "] at a time";
  if (mma.getInstrShape()[2] != wgmmaDepth(elemBits) || depth % wgmmaDepth(elemBits))
    return op.emitOpError("K is ") << depth << " and instrShape's depth " << mma.getInstrShape()[2]
                                   << "; the instruction takes " << wgmmaDepth(elemBits) << " at a time";
  return success();
}

LogicalResult WarpGroupDotOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  auto mma = dyn_cast_or_null<ttg::NvidiaMmaAttr>(result.getEncoding());
  if (!mma || !mma.isWgmma()) // C1
    return emitOpError("the result has no encoding of matrix instructions of version 3: ") << result;
  if (const unsigned warps = mma.getWarpsPerCTA().front(); warps % layout::kWarpsPerWarpGroup)
    return emitOpError("warpsPerCTA begins with ") << warps << "; warps of a group follow one another along the rows, "
                                                   << "so it is a multiple of 4";
  ArrayRef<int64_t> a = shapeOf(getA().getType()), b = shapeOf(getB().getType()), d = result.getShape();
  if (a.size() != 2 || b.size() != 2 || d.size() != 2 || a[1] != b[0] || a[0] != d[0] || b[1] != d[1]) // C2
    return emitOpError("shapes do not fit: ") << getA().getType() << " * " << getB().getType() << " -> " << result;
  Type left = elementOf(getA().getType()), right = elementOf(getB().getType());
  const bool isKnown = hasWgmmaInstruction(left, right, result.getElementType(), getInputPrecision());
  if (!isKnown) // C3
    return emitOpError("there is no instruction for ") << left << " * " << right << " -> " << result.getElementType();
  if (failed(verifyBuffer(*this, "b", getB().getType(), /*isLeft=*/false)))
    return failure();
  if (auto buffer = dyn_cast<ttg::MemDescType>(getA().getType())) {
    if (failed(verifyBuffer(*this, "a", buffer, /*isLeft=*/true)))
      return failure();
  } else { // C5
    auto operand = dyn_cast_or_null<ttg::DotOperandAttr>(cast<RankedTensorType>(getA().getType()).getEncoding());
    if (!operand || operand.getParent() != mma || operand.getOpIdx() != 0)
      return emitOpError("`a` is no operand of the result: ") << getA().getType();
  }
  return verifyExtents(*this, mma, left.getIntOrFloatBitWidth());
}

static void addReads(MutableArrayRef<OpOperand> operands, Effects &effects) {
  for (OpOperand &operand : operands)
    if (isa<ttg::MemDescType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, ttg::SharedMemory::get());
}

void WarpGroupDotOp::getEffects(Effects &effects) { addReads(getOperation()->getOpOperands(), effects); }

//--- warp_group_dot_wait -------------------------------------------------------------------

LogicalResult WarpGroupDotWaitOp::verify() {
  if (getInputs().empty()) // C1
    return emitOpError("waits for nothing");
  return success();
}

void WarpGroupDotWaitOp::getEffects(Effects &effects) {
  addReads(getOperation()->getOpOperands(), effects);
  // The write effect keeps the wait from being moved or erased.
  effects.emplace_back(MemoryEffects::Write::get(), ttg::SharedMemory::get());
}
