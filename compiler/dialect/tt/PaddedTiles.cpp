// Builds types of padded tiles, coordinates, and masks of the elements that exist.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/tt/PaddedTiles.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid::tt;

bool nereid::tt::needsPadding(ArrayRef<int64_t> extents) {
  return !llvm::all_of(extents, [](int64_t extent) { return llvm::isPowerOf2_64(extent); });
}

Extents nereid::tt::paddedExtents(ArrayRef<int64_t> extents) {
  Extents padded;
  for (int64_t extent : extents)
    padded.push_back(llvm::PowerOf2Ceil(extent));
  return padded;
}

Type nereid::tt::paddedType(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && needsPadding(tile.getShape()) ? Type(tile.clone(paddedExtents(tile.getShape()))) : type;
}

Value PaddedBuilder::constant(Type type, Attribute element) {
  return arith::ConstantOp::create(builder, DenseElementsAttr::get(cast<ShapedType>(type), element));
}

Value PaddedBuilder::constant(Type type, int64_t element) {
  return constant(type, builder.getIntegerAttr(elementOf(type), element));
}

/// A one-dimensional tile broadcast along all other dimensions of `shape`.
Value PaddedBuilder::along(Value line, ArrayRef<int64_t> shape, unsigned dim) {
  const Type element = elementOf(line.getType());
  Extents extents = {shape[dim]};
  for (unsigned other = 0; other < shape.size(); ++other) {
    if (other == dim)
      continue;
    extents.insert(extents.begin() + other, 1);
    line = ExpandDimsOp::create(builder, RankedTensorType::get(extents, element), line, other);
  }
  auto type = RankedTensorType::get(shape, element);
  return line.getType() == type ? line : Value(BroadcastOp::create(builder, type, line));
}

Value PaddedBuilder::coordinates(ArrayRef<int64_t> shape, unsigned dim) {
  auto type = RankedTensorType::get({shape[dim]}, builder.getI32Type());
  return along(MakeRangeOp::create(builder, type, 0, static_cast<int32_t>(shape[dim])), shape, dim);
}

Value PaddedBuilder::existing(ArrayRef<int64_t> shape, ArrayRef<int64_t> extents) {
  Value all;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (extent == shape[dim])
      continue;
    Value coordinate = coordinates(shape[dim], 0);
    Value below =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, coordinate, constant(coordinate.getType(), extent));
    Value own = along(below, shape, dim);
    all = all ? Value(arith::AndIOp::create(builder, all, own)) : own;
  }
  return all ? all : constant(RankedTensorType::get(shape, builder.getI1Type()), 1);
}

Value PaddedBuilder::onlyExisting(Value tile, ArrayRef<int64_t> extents, Attribute other) {
  Value isThere = existing(shapeOf(tile.getType()), extents);
  return arith::SelectOp::create(builder, isThere, tile, constant(tile.getType(), other));
}

void nereid::tt::maskPadding(Operation *op, MutableOperandRange mask, ArrayRef<int64_t> extents) {
  PaddedBuilder builder(op);
  Value narrowed = builder.existing(paddedExtents(extents), extents);
  if (!mask.empty())
    narrowed = arith::AndIOp::create(builder.builder, mask[0].get(), narrowed);
  mask.assign(narrowed);
}

void nereid::tt::markExtents(Operation *op, ArrayRef<Extents> operands) {
  Builder builder(op->getContext());
  op->setAttr(kExtents, builder.getArrayAttr(llvm::map_to_vector(operands, [&](const Extents &extents) -> Attribute {
    return builder.getDenseI64ArrayAttr(extents);
  })));
}

LogicalResult nereid::tt::rejectEffects(Operation *op) {
  if (isMemoryEffectFree(op))
    return success();
  return report(op->getLoc(), diag::PaddedEffects);
}
