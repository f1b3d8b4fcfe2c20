// Evaluates element expressions, each value once per level.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"

#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/emit/nest/AddressEmitter.h"
#include "compiler/target/cpu/emit/nest/MemoryEmitter.h"
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The values that inactive lanes share and those of a first lane are cached under separate keys.
uint64_t ElementEmitter::elementKey(const IndexMap &map) const {
  return keyOf(map) * 4 + chunk.isOneInactive + (chunk.isFirstLane && llvm::is_contained(map, nest.vectorDim) ? 2 : 0);
}

std::optional<int64_t> ElementEmitter::chunkStride(Value value, const IndexMap &map) const {
  if (!context.isVector(map))
    return std::nullopt;
  return chunkStep(context.affineInfo, value, map, nest.vectorDim, chunk.lanes);
}

Element ElementEmitter::firstLane(Value value, const IndexMap &map, unsigned requester) {
  const bool outer = std::exchange(chunk.isFirstLane, true);
  Element element = evaluate(value, map, requester);
  chunk.isFirstLane = outer;
  return element;
}

std::optional<Element> ElementEmitter::inactiveElement(Value value, unsigned level) {
  const IndexMap map = context.identity();
  if (!masks.isUniformWhenInactive(value, map))
    return std::nullopt;
  chunk.part = NestPart::Inactive;
  chunk.isOneInactive = true;
  Element element = evaluate(value, map, level);
  chunk.isOneInactive = false;
  return element;
}

/// Whether all lanes of the chunk have one element: a comparison with one result, a load from one address.
bool ElementEmitter::isOneInChunk(Value value, const IndexMap &map) const {
  if (auto load = value.getDefiningOp<tt::LoadOp>())
    return !context.affineInfo.affine(load.getPtr()) && chunkStride(value, map) == 0;
  return context.isVector(map) && isUniformComparison(context.affineInfo, value, map, nest.vectorDim, chunk.lanes);
}

Element ElementEmitter::evaluate(Value value, const IndexMap &fullMap, unsigned requester) {
  if (isFailed)
    return {};
  if (!isa<RankedTensorType>(value.getType()))
    return {context.scalars.of(value), false};
  const IndexMap map = reduceMap(context.affineInfo, value, fullMap);
  if (auto truth = masks.impliedValue(value, map, requester))
    return {context.ir.getInt1(*truth), false};
  unsigned level = context.levels.of(map);
  if (chunk.isOneInactive)
    level = std::min(level, context.levels.vectorLevel() - 1);
  if (Element element = known[level].lookup({value, elementKey(map)}))
    return element;
  Element element = isOneInChunk(value, map) ? firstLane(value, map, requester) : compute(value, map, level);
  if (!element) {
    isFailed = true;
    return {};
  }
  remember(value, map, level, element);
  return element;
}

Element ElementEmitter::compute(Value value, const IndexMap &map, unsigned level) {
  if (DenseElementsAttr constant = context.buffers.initialOf(value))
    return {context.lanes.constant(constant.getSplatValue<Attribute>(), tt::elementOf(value.getType()), 1), false};
  if (auto found = context.plan.bufferOf.find(value);
      found != context.plan.bufferOf.end() && context.buffers.isReady(value)) {
    context.levels.insertAt(level);
    ChunkAccess access = context.addresses.ofBuffer(context.buffers.of(value), found->second, value.getType(), map);
    context.levels.insertAt(level);
    return context.memory.readElement(access, tt::elementOf(value.getType()), context.isVector(map));
  }
  if (const PrefixMask *prefix = context.affineInfo.prefix(value))
    return emitPrefix(*prefix, value, map, level);
  Operation *op = value.getDefiningOp();
  if (!isComputable(op)) {
    emitError(value.getLoc()) << "a tile is used before it is computed";
    return {};
  }
  return elementTraits(op).emit(context, cast<OpResult>(value), map, level);
}

/// The comparison of a prefix mask, in lanes as narrow as the nest's elements allow.
Element ElementEmitter::emitPrefix(const PrefixMask &prefix, Value value, const IndexMap &map, unsigned level) {
  llvm::IRBuilder<> &ir = context.ir;
  context.levels.insertAt(0);
  llvm::Value *bound = context.scalars.clamped(prefix.bound, tt::shapeOf(value.getType())[prefix.dim]);
  context.levels.insertAt(level);
  const int dim = map[prefix.dim];
  if (dim < 0) // one element of the dimension
    return {ir.CreateICmpSGT(bound, ir.getInt64(indexOfFixed(dim))), false};
  llvm::Value *left = ir.CreateSub(bound, context.levels.indexOf(dim));
  if (dim != nest.vectorDim || chunk.lanes == 1 || chunk.isFirstLane)
    return {ir.CreateICmpSGT(left, ir.getInt64(0)), false};
  left = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, ir.getInt64(0));
  left = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, ir.getInt64(chunk.lanes));
  llvm::Type *lane = chunk.lanes > 32 ? ir.getInt8Ty() : ir.getInt32Ty();
  llvm::Value *count = ir.CreateVectorSplat(chunk.lanes, ir.CreateTrunc(left, lane));
  return {ir.CreateICmpSLT(context.laneNumbers(lane), count), true};
}

void ElementEmitter::evaluateInOrder(unsigned level) {
  constexpr size_t harmless = 300;
  std::vector<std::pair<Value, IndexMap>> values;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (isa<RankedTensorType>(value.getType()))
      values.emplace_back(value, map);
    return !(context.plan.bufferOf.contains(value) && context.buffers.isReady(value));
  });
  walk.nest(nest);
  if (values.size() <= harmless)
    return;
  llvm::stable_sort(
      values, [&](const auto &a, const auto &b) { return context.positionOf(a.first) < context.positionOf(b.first); });
  for (const auto &[value, map] : values)
    evaluate(value, map, level);
}
