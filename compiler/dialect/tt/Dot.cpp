// Verifies dot and dot_scaled (which shapes and element types fit together) and pads dots.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/PaddedTiles.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid::tt;

/// C1 and C2: [.., M, K] * [.., K, N] -> [.., M, N].
static LogicalResult verifyShapes(Operation *op, ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  const size_t rank = a.size();
  if ((rank != 2 && rank != 3) || b.size() != rank || c.size() != rank)
    return op->emitOpError("operands have ranks ")
           << rank << ", " << b.size() << " and " << c.size() << "; all must be 2, or all 3";
  if (rank == 3 && (a[0] != b[0] || a[0] != c[0]))
    return op->emitOpError("operands have batch extents ") << a[0] << ", " << b[0] << " and " << c[0];
  if (a[rank - 1] != b[rank - 2])
    return op->emitOpError("last extent of `a` is ") << a[rank - 1] << ", but `b` has " << b[rank - 2] << " rows";
  if (c[rank - 2] != a[rank - 2] || c[rank - 1] != b[rank - 1])
    return op->emitOpError("`c` is [") << c[rank - 2] << ", " << c[rank - 1] << "], but the dot is [" << a[rank - 2]
                                       << ", " << b[rank - 1] << "]";
  return success();
}

LogicalResult DotOp::verify() {
  if (failed(verifyShapes(*this, shapeOf(getA().getType()), shapeOf(getB().getType()), shapeOf(getC().getType()))))
    return failure();
  Type a = elementOf(getA().getType()), b = elementOf(getB().getType());
  if (a != b && !(isFp8(a) && isFp8(b))) // C3
    return emitOpError("elements are ") << a << " and " << b << "; only 8-bit floats may differ";
  return success();
}

/// The shape with the packed dimension counted in values.
static SmallVector<int64_t> unpacked(Type tile, ScaleDotElemType format, bool isKPacked, unsigned kFromEnd) {
  SmallVector<int64_t> shape(shapeOf(tile));
  if (format == ScaleDotElemType::E2M1 && shape.size() >= 2)
    shape[shape.size() - (isKPacked ? kFromEnd : 3 - kFromEnd)] *= 2;
  return shape;
}

LogicalResult DotScaledOp::verify() {
  const SmallVector<int64_t> a = unpacked(getA().getType(), getAElemType(), getLhsKPack(), 1);
  const SmallVector<int64_t> b = unpacked(getB().getType(), getBElemType(), getRhsKPack(), 2);
  if (failed(verifyShapes(*this, a, b, shapeOf(getC().getType()))))
    return failure();
  auto verifyScale = [&](Value scale, StringRef name, int64_t rows, int64_t depth) -> LogicalResult { // C3
    if (!scale)
      return success();
    ArrayRef<int64_t> shape = shapeOf(scale.getType());
    const int64_t groups = shape.size() == a.size() ? shape.back() : 0;
    if (groups && shape[shape.size() - 2] == rows && (groups * 16 == depth || groups * 32 == depth))
      return success();
    return emitOpError("`") << name << "` is " << scale.getType() << "; it needs " << rows << " rows of " << depth
                            << " / 16 or " << depth << " / 32 scales";
  };
  if (failed(verifyScale(getAScale(), "a_scale", a[a.size() - 2], a.back())))
    return failure();
  return verifyScale(getBScale(), "b_scale", b.back(), a.back());
}

int64_t DotScaledOp::getRows() { return *std::next(shapeOf(getType()).rbegin()); }
int64_t DotScaledOp::getColumns() { return shapeOf(getType()).back(); }
int64_t DotScaledOp::getDepth() { return unpacked(getA().getType(), getAElemType(), getLhsKPack(), 1).back(); }

bool DotScaledOp::isMicroscaled() {
  auto isMx = [&](ScaleDotElemType format, bool isKPacked, Value scale) {
    const bool isFp8 = format == ScaleDotElemType::E4M3 || format == ScaleDotElemType::E5M2;
    const bool isE2m1 = format == ScaleDotElemType::E2M1 && isKPacked;
    return (isFp8 || isE2m1) &&
           (!scale || (elementOf(scale.getType()).isInteger(8) && shapeOf(scale.getType()).back() * 32 == getDepth()));
  };
  return isMx(getAElemType(), getLhsKPack(), getAScale()) && isMx(getBElemType(), getRhsKPack(), getBScale());
}

//--- padding -------------------------------------------------------------------------------

/// Zeroes the elements of an operand beyond the extent of dimension `fromLast`, counted from the last one.
static void zeroPadding(OpOperand &operand, const Extents &extents, unsigned fromLast) {
  Extents existing = paddedExtents(extents);
  const size_t dim = existing.size() - fromLast;
  if (existing[dim] == extents[dim])
    return;
  existing[dim] = extents[dim];
  PaddedBuilder builder(operand.getOwner());
  operand.set(
      builder.onlyExisting(operand.get(), existing, builder.builder.getZeroAttr(elementOf(operand.get().getType()))));
}

/// Only K needs zeros: rows and columns do not mix.
void DotOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  zeroPadding(getAMutable(), operands[0], 1);
  zeroPadding(getBMutable(), operands[1], 2);
}
