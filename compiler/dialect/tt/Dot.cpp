// Verifies dot and dot_scaled (which shapes and element types fit together) and pads dots.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/PaddedTiles.h"
#include "compiler/dialect/tt/Rules.h"
#include "compiler/dialect/tt/TypeName.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid::tt;

FailureOr<Shape> nereid::tt::dotShape(ShapeRef a, ShapeRef b, const RuleReporter &reporter) {
  const size_t rank = a.size();
  if (rank != b.size() || rank < 2)
    return reporter.fail(diag::DotRank, shapeText(a), shapeText(b));
  if (a.drop_back(2) != b.drop_back(2))
    return reporter.fail(diag::DotBatch, shapeText(a), shapeText(b));
  if (a[rank - 1] != b[rank - 2])
    return reporter.fail(diag::DotInner, shapeText(a), shapeText(b), a[rank - 1], b[rank - 2]);
  Shape shape(a.drop_back());
  shape.push_back(b.back());
  return shape;
}

/// C1 and C2.
static LogicalResult verifyShapes(Operation *op, ShapeRef a, ShapeRef b, ShapeRef c) {
  auto shape = dotShape(a, b, OpReporter(op));
  if (failed(shape))
    return failure();
  if (a.size() > 3)
    return op->emitOpError("operands have ") << a.size() << " dimensions; a dot has 2, or 3 with a batch";
  if (ShapeRef(*shape) != c)
    return op->emitOpError("`c` is ") << shapeText(c) << ", but the dot is " << shapeText(*shape);
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

/// C3.
LogicalResult nereid::tt::checkScale(StringRef name, ShapeRef scale, ShapeRef tile, int64_t rows, int64_t depth,
                                     const RuleReporter &reporter) {
  const size_t rank = tile.size();
  const bool fits = scale.size() == rank && scale.drop_back(2) == tile.drop_back(2) && scale[rank - 2] == rows &&
                    (scale.back() * 16 == depth || scale.back() * 32 == depth);
  return fits ? success() : reporter.fail(diag::DotScaleShape, name, shapeText(scale), rows, depth);
}

LogicalResult DotScaledOp::verify() {
  const SmallVector<int64_t> a = unpacked(getA().getType(), getAElemType(), getLhsKPack(), 1);
  const SmallVector<int64_t> b = unpacked(getB().getType(), getBElemType(), getRhsKPack(), 2);
  if (failed(verifyShapes(*this, a, b, shapeOf(getC().getType()))))
    return failure();
  auto verifyScale = [&](Value scale, StringRef name, int64_t rows) -> LogicalResult {
    return scale ? checkScale(name, shapeOf(scale.getType()), a, rows, a.back(), OpReporter(*this)) : success();
  };
  if (failed(verifyScale(getAScale(), "a_scale", a[a.size() - 2])))
    return failure();
  return verifyScale(getBScale(), "b_scale", b.back());
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
