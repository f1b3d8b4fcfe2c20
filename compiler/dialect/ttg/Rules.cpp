// Computes the encodings of results of the shape ops of `tt`.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/EncodingRules.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingRules.h"
#include "compiler/layout/Distributed.h"

#include <set>

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

static std::vector<std::string> dimNames(unsigned rank) {
  std::vector<std::string> names;
  for (unsigned dim = 0; dim < rank; ++dim)
    names.push_back(layout::dimName(dim));
  return names;
}

/// The layout whose coordinates, in row-major order, are those of `layout` under another shape.
static LinearLayout withShape(const LinearLayout &layout, ArrayRef<int64_t> shape) {
  const std::vector<std::string> names = dimNames(shape.size());
  SmallVector<LinearLayout::Named> outputs;
  for (auto [name, extent] : llvm::zip_equal(names, shape))
    outputs.emplace_back(name, extent);
  return layout.reshapeOuts(outputs);
}

LayoutEncoding ttg::inferReshaped(LayoutEncoding source, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  return encodingFor(source.getContext(), withShape(source.toLinearLayout(from), to), to);
}

LayoutEncoding ttg::inferExpanded(LayoutEncoding source, ArrayRef<int64_t> shape, unsigned axis) {
  if (auto slice = dyn_cast<SliceAttr>(source); slice && slice.getDim() == axis)
    return slice.getParent();
  SmallVector<int64_t> expanded(shape);
  expanded.insert(expanded.begin() + axis, 1);
  return inferReshaped(source, shape, expanded);
}

static SmallVector<unsigned> permuted(ArrayRef<unsigned> values, ArrayRef<int32_t> order) {
  SmallVector<unsigned> result;
  for (int32_t dim : order)
    result.push_back(values[dim]);
  return result;
}

static BlockedAttr transposedBlocked(BlockedAttr source, ArrayRef<int32_t> order) {
  SmallVector<unsigned> fastest, split;
  for (unsigned dim : source.getOrder())
    fastest.push_back(llvm::find(order, int32_t(dim)) - order.begin());
  for (ArrayRef<unsigned> rest = source.getCgaLayout(); !rest.empty(); rest = rest.drop_front(order.size()))
    split.append(permuted(rest.take_front(order.size()), order));
  return BlockedAttr::get(source.getContext(), permuted(source.getSizePerThread(), order),
                          permuted(source.getThreadsPerWarp(), order), permuted(source.getWarpsPerCTA(), order),
                          fastest, split);
}

LayoutEncoding ttg::inferTransposed(LayoutEncoding source, ArrayRef<int64_t> shape, ArrayRef<int32_t> order) {
  if (auto blocked = dyn_cast<BlockedAttr>(source))
    return transposedBlocked(blocked, order);
  if (auto slice = dyn_cast<SliceAttr>(source)) {
    // The parent's other dimensions move; the removed one keeps its index.
    const int32_t removed = slice.getDim();
    SmallVector<int32_t> parentOrder;
    for (int32_t dim : order)
      parentOrder.push_back(dim < removed ? dim : dim + 1);
    parentOrder.insert(parentOrder.begin() + removed, removed);
    SmallVector<int64_t> parentShape(shape);
    parentShape.insert(parentShape.begin() + removed, 1);
    return SliceAttr::get(source.getContext(), removed, inferTransposed(slice.getParent(), parentShape, parentOrder));
  }
  const LinearLayout layout = source.toLinearLayout(shape);
  const std::vector<std::string> names = dimNames(order.size());
  SmallVector<StringRef> outputs;
  SmallVector<int64_t> transposedShape;
  for (int32_t dim : order) {
    outputs.push_back(names[dim]);
    transposedShape.push_back(shape[dim]);
  }
  return encodingFor(source.getContext(), withShape(layout.transposeOuts(outputs), transposedShape), transposedShape);
}

/// The coordinates of a thread's registers, in the first thread.
static std::set<LinearLayout::Coordinates> registerCoordinates(const LinearLayout &layout) {
  std::set<LinearLayout::Coordinates> all;
  for (int32_t index = 0; index < layout.inSize(layout::kRegister); ++index)
    all.insert(layout.apply({{layout::kRegister, index}}));
  return all;
}

/// An element of one of two tiles of that shape in the tile that joins them.
static LinearLayout::Coordinates inWhole(LinearLayout::Coordinates element, unsigned half, ArrayRef<int64_t> shape,
                                         bool isJoin) {
  if (isJoin)
    element.push_back(half);
  else
    element.front() += half * shape.front();
  return element;
}

/// Threads differ in the same way in both layouts, and the first one has the same elements of each half as of both.
static bool areHalves(const LinearLayout &half, const LinearLayout &whole, ArrayRef<int64_t> shape, bool isJoin) {
  for (StringRef input : half.inputNames()) {
    if (input == layout::kRegister)
      continue;
    if (half.inBits(input) != whole.inBits(input))
      return false;
    for (unsigned bit = 0; bit < half.inBits(input); ++bit)
      if (inWhole(half.basis(input, bit), 0, shape, isJoin) != whole.basis(input, bit))
        return false;
  }
  std::set<LinearLayout::Coordinates> expected;
  for (const LinearLayout::Coordinates &element : registerCoordinates(half))
    for (unsigned which : {0, 1})
      expected.insert(inWhole(element, which, shape, isJoin));
  return expected == registerCoordinates(whole);
}

namespace {
struct Rules : tt::EncodingRules {
  using EncodingRules::EncodingRules;

  Attribute reduced(RankedTensorType tile, unsigned axis) const final {
    return SliceAttr::get(tile.getContext(), axis, encodingOf(tile));
  }
  Attribute expanded(RankedTensorType tile, unsigned axis) const final {
    return inferExpanded(encodingOf(tile), tile.getShape(), axis);
  }
  Attribute transposed(RankedTensorType tile, ArrayRef<int32_t> order) const final {
    return inferTransposed(encodingOf(tile), tile.getShape(), order);
  }
  Attribute reshaped(RankedTensorType tile, ArrayRef<int64_t> shape) const final {
    return inferReshaped(encodingOf(tile), tile.getShape(), shape);
  }
  bool areEquivalent(Attribute a, Attribute b, ArrayRef<int64_t> shape) const final {
    auto first = dyn_cast<LayoutEncoding>(a), second = dyn_cast<LayoutEncoding>(b);
    return first && second && ttg::areEquivalent(first, second, shape);
  }
  bool areHalves(RankedTensorType half, RankedTensorType whole) const final {
    return encodingOf(half) && encodingOf(whole) &&
           ::areHalves(linearLayoutOf(half), linearLayoutOf(whole), half.getShape(), whole.getRank() > half.getRank());
  }
};
} // namespace

void ttg::addEncodingRules(TtgDialect &dialect) { dialect.addInterfaces<Rules>(); }
