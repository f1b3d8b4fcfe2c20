// Verifies map_elementwise, canonicalizes it where a call takes one element or has no control flow, and flattens it for
// padding.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/PaddedTiles.h"
#include "compiler/dialect/tt/Rules.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid::tt;

LogicalResult nereid::tt::checkPack(int64_t pack, int64_t elements, const RuleReporter &reporter) {
  const bool divides = pack >= 1 && llvm::isPowerOf2_64(pack) && elements % pack == 0;
  return divides ? success() : reporter.fail(diag::MapPack, pack, elements);
}

LogicalResult MapElementwiseOp::verify() {
  if (getSrcs().empty()) // C1
    return emitOpError("has no operand");
  auto first = cast<RankedTensorType>(getSrcs().front().getType());
  const int64_t pack = static_cast<int32_t>(getPack());
  if (failed(checkPack(pack, first.getNumElements(), OpReporter(*this))))
    return failure();
  if (pack != 1 && first.getEncoding()) // C3
    return emitOpError("packs ") << pack
                                 << " elements of tiles with an encoding; split the tiles, and join the results";
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  Block &body = getScalarOp().front();
  auto packed = [&](TypeRange types) {
    SmallVector<Type> elements;
    for (Type type : types)
      elements.append(getPack(), elementOf(type));
    return elements;
  };
  if (!llvm::equal(body.getArgumentTypes(), packed(getSrcs().getTypes()))) // C2
    return emitOpError("region must take ") << getPack() << " scalars of each operand's element type";
  const SmallVector<Type> wanted = packed(getResultTypes());
  for (Block &block : getScalarOp()) {
    Operation *end = block.empty() ? nullptr : &block.back();
    auto values = dyn_cast_if_present<MapElementwiseReturnOp>(end);
    const bool goesOn = end && end->getNumSuccessors() != 0;
    if (!goesOn && (!values || !llvm::equal(values.getValues().getTypes(), wanted)))
      return emitOpError("region must return ") << getPack() << " scalars of each result's element type";
  }
  return success();
}

//--- canonical forms -----------------------------------------------------------------------

/// `count` tiles that hold the interleaved elements of `tile`: it is split in two, repeatedly.
static SmallVector<Value> unpacked(PatternRewriter &rewriter, Location loc, Value tile, int64_t count) {
  if (count == 1)
    return {tile};
  auto type = cast<RankedTensorType>(tile.getType());
  const int64_t half = type.getNumElements() / 2;
  Value pairs = ReshapeOp::create(rewriter, loc, type.clone({half, 2}), tile, false, false);
  Type part = type.clone(ArrayRef<int64_t>{half});
  auto split = SplitOp::create(rewriter, loc, part, part, pairs);
  SmallVector<Value> even = unpacked(rewriter, loc, split.getOutLHS(), count / 2);
  SmallVector<Value> odd = unpacked(rewriter, loc, split.getOutRHS(), count / 2);
  SmallVector<Value> parts;
  for (auto [left, right] : llvm::zip_equal(even, odd))
    parts.append({left, right});
  return parts;
}

/// The 1-D tile that interleaves the elements of `parts`.
static Value packed(PatternRewriter &rewriter, Location loc, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<Value> even, odd;
  for (auto [index, part] : llvm::enumerate(parts))
    (index % 2 ? odd : even).push_back(part);
  Value left = packed(rewriter, loc, even), right = packed(rewriter, loc, odd);
  auto type = cast<RankedTensorType>(left.getType());
  const int64_t count = type.getNumElements();
  Value joined = JoinOp::create(rewriter, loc, type.clone({count, 2}), left, right);
  return ReshapeOp::create(rewriter, loc, type.clone(ArrayRef<int64_t>{2 * count}), joined, false, false);
}

/// Rewrites calls that take several elements of each tile to calls that take one element of each of several tiles.
static LogicalResult unpack(MapElementwiseOp op, PatternRewriter &rewriter) {
  const int64_t pack = op.getPack();
  if (pack == 1 || cast<RankedTensorType>(op.getSrcs().front().getType()).getEncoding())
    return failure();
  SmallVector<Value> sources;
  for (Value source : op.getSrcs())
    sources.append(unpacked(rewriter, op.getLoc(), source, pack));
  auto shape = cast<RankedTensorType>(sources.front().getType());
  SmallVector<Type> types;
  for (Type result : op.getResultTypes())
    types.append(pack, shape.clone(elementOf(result)));
  auto single = MapElementwiseOp::create(rewriter, op.getLoc(), types, sources, 1);
  rewriter.inlineRegionBefore(op.getScalarOp(), single.getScalarOp(), single.getScalarOp().end());
  SmallVector<Value> results;
  for (auto [index, type] : llvm::enumerate(op.getResultTypes())) {
    SmallVector<Value> parts(single.getResults().slice(index * pack, pack));
    Value flat = packed(rewriter, op.getLoc(), parts);
    results.push_back(ReshapeOp::create(rewriter, op.getLoc(), type, flat, false, false));
  }
  rewriter.replaceOp(op, results);
  return success();
}

/// Rewrites a function of elementwise ops alone to those ops on tiles.
static LogicalResult widen(MapElementwiseOp op, PatternRewriter &rewriter) {
  if (!op.getScalarOp().hasOneBlock())
    return failure();
  Block &body = op.getScalarOp().front();
  auto isSimple = [](Operation &inner) {
    return inner.hasTrait<OpTrait::ConstantLike>() ||
           (isPure(&inner) && inner.getNumRegions() == 0 && inner.hasTrait<OpTrait::Elementwise>()) ||
           isa<arith::SelectOp, AddPtrOp>(inner);
  };
  if (op.getPack() != 1 || !llvm::all_of(body.without_terminator(), isSimple))
    return failure();
  auto shape = cast<RankedTensorType>(op.getSrcs().front().getType());
  IRMapping tiles;
  tiles.map(body.getArguments(), op.getSrcs());
  auto tileOf = [&](Value scalar) {
    if (Value known = tiles.lookupOrNull(scalar))
      return known;
    Value tile = SplatOp::create(rewriter, op.getLoc(), shape.clone(scalar.getType()), scalar);
    tiles.map(scalar, tile);
    return tile;
  };
  for (Operation &inner : body.without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>()) {
      Operation *constant = rewriter.clone(inner);
      tiles.map(inner.getResult(0), SplatOp::create(rewriter, op.getLoc(), shape.clone(inner.getResult(0).getType()),
                                                    constant->getResult(0)));
      continue;
    }
    OperationState state(inner.getLoc(), inner.getName());
    for (Value operand : inner.getOperands())
      state.addOperands(tileOf(operand));
    for (Type type : inner.getResultTypes())
      state.addTypes(shape.clone(type));
    state.addAttributes(inner.getAttrs());
    Operation *wide = rewriter.create(state);
    tiles.map(inner.getResults(), wide->getResults());
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(tileOf(value));
  rewriter.replaceOp(op, results);
  return success();
}

void MapElementwiseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(unpack);
  patterns.add(widen);
}

//--- padding -------------------------------------------------------------------------------

/// Puts elements that are mapped together in adjacent positions of a flattened tile.
LogicalResult MapElementwiseOp::prepareForPadding() {
  if (failed(rejectEffects(*this)))
    return failure();
  auto type = cast<RankedTensorType>(getSrcs().front().getType());
  if (type.getRank() == 1 || type.getShape().back() % getPack() == 0)
    return success();
  ImplicitLocOpBuilder builder(getLoc(), *this);
  auto reshaped = [&](Value tile, ArrayRef<int64_t> shape) {
    auto to = RankedTensorType::get(shape, elementOf(tile.getType()));
    return Value(ReshapeOp::create(builder, to, tile, false, false));
  };
  for (OpOperand &operand : (*this)->getOpOperands())
    operand.set(reshaped(operand.get(), type.getNumElements()));
  builder.setInsertionPointAfter(*this);
  for (OpResult result : (*this)->getResults()) {
    auto line = RankedTensorType::get({type.getNumElements()}, elementOf(result.getType()));
    result.setType(line);
    Value again = reshaped(result, type.getShape());
    result.replaceAllUsesExcept(again, again.getDefiningOp());
  }
  return success();
}
