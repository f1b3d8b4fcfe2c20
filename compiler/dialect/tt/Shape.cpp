// Verifies, folds and maps elements of the ops that create and rearrange tiles.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/EncodingRules.h"
#include "compiler/dialect/tt/Rules.h"
#include "compiler/dialect/tt/TypeName.h"

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

LogicalResult nereid::tt::checkRange(int64_t start, int64_t end, const RuleReporter &reporter) {
  return start < end ? success() : reporter.fail(diag::ArangeEmpty, start, end);
}

LogicalResult MakeRangeOp::verify() {
  const int64_t start = static_cast<int32_t>(getStart()), end = static_cast<int32_t>(getEnd());
  if (failed(checkRange(start, end, OpReporter(*this)))) // C1
    return failure();
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

Shape nereid::tt::expandedShape(ShapeRef shape, int64_t axis) {
  Shape expanded(shape);
  expanded.insert(expanded.begin() + axis, 1);
  return expanded;
}

LogicalResult ExpandDimsOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType());
  const int64_t axis = static_cast<int32_t>(getAxis());
  if (failed(checkAxis(axis, source.getRank() + 1, 0, OpReporter(*this)))) // C1
    return failure();
  if (shapeOf(getType()) != ShapeRef(expandedShape(source.getShape(), axis))) // C2
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

LogicalResult nereid::tt::checkBroadcast(ShapeRef from, ShapeRef to, const RuleReporter &reporter) {
  if (from.size() != to.size())
    return reporter.fail(diag::BroadcastRank, shapeText(from), shapeText(to));
  for (auto [dim, before, after] : llvm::enumerate(from, to))
    if (before != after && before != 1)
      return reporter.fail(diag::BroadcastExtent, after, before, dim, shapeText(from), shapeText(to));
  return success();
}

LogicalResult BroadcastOp::verify() { // C1
  return checkBroadcast(shapeOf(getSrc().getType()), shapeOf(getType()), OpReporter(*this));
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

LogicalResult nereid::tt::checkReshape(ShapeRef from, ShapeRef to, const RuleReporter &reporter) {
  const int64_t before = llvm::product_of(from), after = llvm::product_of(to);
  return before == after ? success() : reporter.fail(diag::ReshapeCount, shapeText(from), before, shapeText(to), after);
}

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getSrc().getType()), result = cast<RankedTensorType>(getType());
  if (failed(checkReshape(source.getShape(), result.getShape(), OpReporter(*this)))) // C1
    return failure();
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

FailureOr<Shape> nereid::tt::permutedShape(ShapeRef shape, ArrayRef<int32_t> order, const RuleReporter &reporter) {
  const auto dims = llvm::to_vector_of<int64_t>(order);
  if (dims.size() != shape.size() || !isPermutationVector(dims))
    return reporter.fail(diag::NotAPermutation, shapeText(dims), shape.size(), reporter.typeName(0));
  return Shape(llvm::map_range(dims, [&](int64_t dim) { return shape[dim]; }));
}

LogicalResult TransOp::verify() {
  ArrayRef<int32_t> order = getOrder();
  auto shape = permutedShape(shapeOf(getSrc().getType()), order, OpReporter(*this)); // C1
  if (failed(shape))
    return failure();
  if (shapeOf(getType()) != ShapeRef(*shape)) // C2
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
