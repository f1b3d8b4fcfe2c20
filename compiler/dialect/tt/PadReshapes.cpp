// Pads reshapes: gathers elements from their coordinates in the padded source.
// SPDX-License-Identifier: MIT
//
//   reshape [30] -> [5, 6]   ->   %s = [32]; %d[i, j] = %s[i * 6 + j] of shape [8, 8]
//
// The gather is along one dimension. Where dimensions are only split or merged, and all parts but the outermost are
// powers of two, the order of elements does not change and the reshape stays.
#include "compiler/dialect/tt/PaddedTiles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid::tt;

namespace {
/// Dimensions of both sides, collected until the sides have equally many elements.
struct Group {
  ArrayRef<int64_t> extents;
  size_t end = 0;
  int64_t product = 1;

  void take() { product *= extents[end++]; }
  bool canTake() const { return end < extents.size(); }
};
} // namespace

/// Whether, of the dimensions of more than one element, all but the first are powers of two.
static bool hasPlainInside(ArrayRef<int64_t> extents) {
  auto first = llvm::find_if(extents, [](int64_t extent) { return extent != 1; });
  return first == extents.end() || !needsPadding(extents.drop_front(first - extents.begin() + 1));
}

static bool keepsLinearIndices(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Group left{from}, right{to};
  while (left.canTake() || right.canTake()) {
    const size_t leftBegin = left.end, rightBegin = right.end;
    if (left.canTake())
      left.take();
    if (right.canTake())
      right.take();
    while (left.product != right.product)
      (left.product < right.product ? left : right).take();
    if (!hasPlainInside(from.slice(leftBegin, left.end - leftBegin)) ||
        !hasPlainInside(to.slice(rightBegin, right.end - rightBegin)))
      return false;
  }
  return true;
}

/// For each element of a padded tile with extents `to`, its index in a padded, flattened one with extents `from`.
static Value sourceIndices(PaddedBuilder &builder, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  ImplicitLocOpBuilder &ir = builder.builder;
  const Extents shape = paddedExtents(to), fromShape = paddedExtents(from);
  const auto type = RankedTensorType::get(shape, ir.getI32Type());
  auto times = [&](Value value, int64_t factor) {
    return factor == 1 ? value : Value(arith::MulIOp::create(ir, value, builder.constant(type, factor)));
  };
  Value number = builder.constant(type, 0), index = number;
  for (int64_t dim = to.size() - 1, stride = 1; dim >= 0; stride *= to[dim--])
    number = arith::AddIOp::create(ir, number, times(builder.coordinates(shape, dim), stride));
  for (int64_t dim = from.size() - 1, stride = 1; dim >= 0; stride *= fromShape[dim--]) {
    Value extent = builder.constant(type, from[dim]);
    Value coordinate = dim ? Value(arith::RemUIOp::create(ir, number, extent)) : number;
    index = arith::AddIOp::create(ir, index, times(coordinate, stride));
    if (dim)
      number = arith::DivUIOp::create(ir, number, extent);
  }
  return index;
}

void ReshapeOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents> results) {
  const Extents &from = operands.front(), &to = results.front();
  setAllowReorder(false);
  if (keepsLinearIndices(from, to))
    return;
  PaddedBuilder builder(*this);
  ImplicitLocOpBuilder &ir = builder.builder;
  auto flat = [&](Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    auto line = RankedTensorType::get({type.getNumElements()}, type.getElementType());
    return type.getRank() == 1 ? tile : Value(ReshapeOp::create(ir, line, tile, false, false));
  };
  Value source = flat(getSrc()), indices = flat(sourceIndices(builder, from, to));
  Value picked =
      GatherOp::create(ir, withElement(indices.getType(), elementOf(source.getType())), source, indices, 0, false);
  if (picked.getType() != getType())
    picked = ReshapeOp::create(ir, getType(), picked, false, false);
  (*this)->replaceAllUsesWith(ValueRange(picked));
  erase();
}
