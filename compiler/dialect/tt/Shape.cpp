// Verifies, folds and maps elements of the ops that create and rearrange tiles.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/EncodingRules.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid::tt;

/// The attribute that every element of a constant tile has, as a splat in `type`'s shape.
static Attribute resplat(Attribute source, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(source); splat && tile)
    return SplatElementsAttr::get(tile, splat.getSplatValue<Attribute>());
  return {};
}

/// The encoding that `rule` gives for a tile; none for a tile without one.
template <typename Rule> static Attribute encodingBy(RankedTensorType tile, Rule rule) {
  const EncodingRules *rules = encodingRulesOf(tile);
  return rules ? rule(*rules) : Attribute();
}

/// The splat below ops that only change the shape.
static Value splatSource(Value value) {
  auto splat = value.getDefiningOp<SplatOp>();
  return splat ? splat.getSrc() : Value();
}

//--- make_range ----------------------------------------------------------------------------

LogicalResult MakeRangeOp::verify() {
  const int64_t start = static_cast<int32_t>(getStart()), end = static_cast<int32_t>(getEnd());
  if (end <= start) // C1
    return emitOpError("range [") << start << ", " << end << ") is empty; `end` must be greater than `start`";
  RankedTensorType type = getType();
  if (type.getRank() != 1 || type.getDimSize(0) != end - start) // C2
    return emitOpError("range of ") << end - start << " elements has type " << type;
  return success();
}

OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  if (getEnd() - getStart() != 1)
    return {};
  return SplatElementsAttr::get(getType(), Builder(getContext()).getI32IntegerAttr(getStart()));
}

//--- splat, unsplat ------------------------------------------------------------------------

ElementMap SplatOp::getElementMap(unsigned, unsigned) { return {}; }

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (!isa_and_nonnull<FloatAttr, IntegerAttr>(adaptor.getSrc()))
    return {};
  return SplatElementsAttr::get(cast<RankedTensorType>(getType()), adaptor.getSrc());
}

LogicalResult UnsplatOp::verify() {
  auto tile = cast<RankedTensorType>(getSrc().getType());
  if (tile.getNumElements() != 1) // C1
    return emitOpError("tile has ") << tile.getNumElements() << " elements; only one can become a scalar";
  return success();
}

ElementMap UnsplatOp::getElementMap(unsigned, unsigned) {
  return ElementMap(shapeOf(getSrc().getType()).size(), ElementIndex::fixed(0));
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return splat.getSplatValue<Attribute>();
  return splatSource(getSrc());
}

//--- expand_dims ---------------------------------------------------------------------------

LogicalResult ExpandDimsOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType());
  const int64_t axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis > source.getRank()) // C1
    return emitOpError("axis ") << axis << " is outside [0, " << source.getRank() << "]";
  SmallVector<int64_t> expected(source.getShape());
  expected.insert(expected.begin() + axis, 1);
  if (shapeOf(getType()) != ArrayRef<int64_t>(expected)) // C2
    return emitOpError("result ") << getType() << " is not " << source << " with a dimension of 1 before axis " << axis;
  return verifyResultEncoding(*this, source, cast<RankedTensorType>(getType()), // C3
                              encodingBy(source, [&](auto &rules) { return rules.expanded(source, axis); }));
}

ElementMap ExpandDimsOp::getElementMap(unsigned, unsigned) {
  ElementMap map = identityMap(shapeOf(getType()).size());
  map.erase(map.begin() + getAxis());
  return map;
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return resplat(adaptor.getSrc(), getType()); }

//--- broadcast -----------------------------------------------------------------------------

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getSrc().getType()), to = shapeOf(getType());
  if (from.size() != to.size())
    return emitOpError("rank ") << from.size() << " cannot be broadcast to rank " << to.size();
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(from, to))) // C1
    if (auto [before, after] = pair; before != after && before != 1)
      return emitOpError("dimension ") << index << " has extent " << before << "; only extent 1 can grow to " << after;
  return success();
}

ElementMap BroadcastOp::getElementMap(unsigned, unsigned) {
  ArrayRef<int64_t> from = shapeOf(getSrc().getType()), to = shapeOf(getType());
  ElementMap map = identityMap(to.size());
  for (auto [index, before, after] : llvm::zip_equal(map, from, to))
    if (before != after)
      index = ElementIndex::fixed(0);
  return map;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BroadcastOp>()) {
    setOperand(inner.getSrc());
    return getResult();
  }
  return resplat(adaptor.getSrc(), getType());
}

//--- reshape -------------------------------------------------------------------------------

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType()), result = cast<RankedTensorType>(getType());
  const int64_t before = source.getNumElements(), after = result.getNumElements();
  if (before != after) // C1
    return emitOpError("changes the element count from ") << before << " to " << after;
  return verifyResultEncoding(
      *this, source, result, // C2
      encodingBy(source, [&](auto &rules) { return rules.reshaped(source, result.getShape()); }));
}

/// In row-major order, which a target may leave with `allow_reorder`: known for the first dimensions, as long as
/// extents other than 1 agree.
ElementMap ReshapeOp::getElementMap(unsigned, unsigned) {
  ArrayRef<int64_t> from = shapeOf(getSrc().getType()), to = shapeOf(getType());
  ElementMap map(from.size(), ElementIndex::fixed(0));
  size_t target = 0;
  bool agrees = true;
  for (auto [index, extent] : llvm::zip_equal(map, from)) {
    if (extent == 1)
      continue;
    while (target < to.size() && to[target] == 1)
      ++target;
    agrees = agrees && target < to.size() && to[target] == extent;
    index = agrees ? ElementIndex::ofDim(target++) : ElementIndex::unknown();
  }
  return map;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<ReshapeOp>(); inner && !inner.getAllowReorder() && !getAllowReorder()) {
    setOperand(inner.getSrc());
    return getResult();
  }
  return resplat(adaptor.getSrc(), getType());
}

//--- trans ---------------------------------------------------------------------------------

LogicalResult TransOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getSrc().getType()), to = shapeOf(getType());
  ArrayRef<int32_t> order = getOrder();
  if (order.size() != from.size() || !isPermutationVector(llvm::to_vector_of<int64_t>(order))) // C1
    return emitOpError("order is not a permutation of ") << from.size() << " dimensions";
  for (auto [index, source] : llvm::enumerate(order)) // C2
    if (to.size() != from.size() || to[index] != from[source])
      return emitOpError("result ") << getType() << " is not the permuted " << getSrc().getType();
  auto source = cast<RankedTensorType>(getSrc().getType());
  return verifyResultEncoding(*this, source, cast<RankedTensorType>(getType()), // C3
                              encodingBy(source, [&](auto &rules) { return rules.transposed(source, order); }));
}

ElementMap TransOp::getElementMap(unsigned, unsigned) {
  ElementMap map(getOrder().size());
  for (auto [dim, source] : llvm::enumerate(getOrder()))
    map[source] = ElementIndex::ofDim(dim);
  return map;
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getOrder(), llvm::seq<int32_t>(0, getOrder().size())) && getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<TransOp>()) {
    SmallVector<int32_t> combined;
    for (int32_t dim : getOrder())
      combined.push_back(inner.getOrder()[dim]);
    setOrder(combined);
    setOperand(inner.getSrc());
    return getResult();
  }
  return resplat(adaptor.getSrc(), getType());
}
