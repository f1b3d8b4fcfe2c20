// Evaluates element expressions, each value once per level.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/NestEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/target/cpu/emit/Diagnostics.h"
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static uint64_t keyOf(const IndexMap &map) {
  uint64_t key = map.size();
  for (int8_t loop : map)
    key = key * 31 + static_cast<uint64_t>(loop + 3);
  return key;
}

unsigned NestEmitter::levelOf(const IndexMap &map) const {
  unsigned level = 0;
  for (int8_t loop : map)
    if (loop >= 0)
      level = std::max(level, depthOf[loop]);
  return level;
}

bool NestEmitter::isVectorMap(const IndexMap &map) const {
  return chunkLanes > 1 && !firstLaneOnly && llvm::is_contained(map, nest.vectorDim);
}

/// The values that inactive lanes share and those of a first lane are cached under separate keys.
uint64_t NestEmitter::elementKey(const IndexMap &map) const {
  return keyOf(map) * 4 + inactiveScalar + (firstLaneOnly && llvm::is_contained(map, nest.vectorDim) ? 2 : 0);
}

/// The distance of the chunk's lanes where they are equally spaced; nullopt where they are not known to be.
std::optional<int64_t> NestEmitter::chunkStride(Value value, const IndexMap &map) {
  if (!isVectorMap(map) || inactiveScalar)
    return std::nullopt;
  auto form = chunkForm(context.affineInfo, value, map, nest.vectorDim, chunkLanes);
  return form ? std::optional(form->stride) : std::nullopt;
}

/// Whether the value is a comparison that is known to have one result in the chunk.
bool NestEmitter::comparesUniformly(Value value, const IndexMap &map) {
  return isVectorMap(map) && !inactiveScalar &&
         isUniformComparison(context.affineInfo, value, map, nest.vectorDim, chunkLanes);
}

Element NestEmitter::firstLane(Value value, const IndexMap &map, unsigned requester) {
  const bool outer = std::exchange(firstLaneOnly, true);
  Element element = evaluate(value, map, requester);
  firstLaneOnly = outer;
  return element;
}

llvm::Value *NestEmitter::asVector(Element element) {
  if (element.isVector || chunkLanes == 1)
    return element.value;
  return ir.CreateVectorSplat(chunkLanes, element.value);
}

std::optional<Element> NestEmitter::inactiveElement(Value value, unsigned level) {
  const IndexMap map = identityMap(nest.shape.size());
  if (!isUniformWhenInactive(value, map))
    return std::nullopt;
  mode = Mode::Inactive;
  inactiveScalar = true;
  Element element = evaluate(value, map, level);
  inactiveScalar = false;
  return element;
}

/// Whether the nest's bounds take a prefix into account: only then do its parts determine the prefix's value.
bool NestEmitter::isCounted(unsigned dim, const Polynomial &bound) const {
  return llvm::any_of(nest.masks,
                      [&](const NestMask &mask) { return mask.prefix.dim == dim && mask.prefix.bound == bound; });
}

/// The truth value that the part being emitted, or the bound of a loop, implies for a mask; nullopt where neither does.
std::optional<bool> NestEmitter::known(Value value, const IndexMap &map, unsigned requester, unsigned depth) {
  if (!tt::elementOf(value.getType()).isInteger(1) || map.empty())
    return std::nullopt;
  if (const PrefixMask *prefix = context.affineInfo.prefix(value); prefix && map[prefix->dim] >= 0) {
    const int dim = map[prefix->dim];
    if (!isCounted(dim, prefix->bound))
      return std::nullopt;
    if (isInPrefix && dim == nest.axis())
      return isInPrefix;
    if (dim != nest.vectorDim)
      return isBounded(dim) ? std::optional(true) : std::nullopt;
    if (mode == Mode::Masked)
      return std::nullopt;
    return mode == Mode::Main;
  }
  if (mode != Mode::Main || requester < vectorLevel || vectorLevel == 0 || llvm::is_contained(map, nest.vectorDim))
    return std::nullopt;
  if (llvm::any_of(nest.conditions,
                   [&](const NestCondition &condition) { return condition.value == value && condition.map == map; }))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8 || !(isShapeChange(op) || isa<arith::AndIOp>(op)))
    return std::nullopt;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto inner = operandMap(value, index, map);
    if (!inner || known(operand, reduceMap(context.affineInfo, operand, *inner), requester, depth + 1) != true)
      return std::nullopt;
  }
  return true;
}

Element NestEmitter::evaluate(Value value, const IndexMap &fullMap, unsigned requester) {
  if (isFailed)
    return {};
  if (!isa<RankedTensorType>(value.getType())) {
    return {context.scalars.of(value), false};
  }
  const IndexMap map = reduceMap(context.affineInfo, value, fullMap);
  if (auto truth = known(value, map, requester))
    return {ir.getInt1(*truth), false};
  const unsigned level = inactiveScalar ? std::min(levelOf(map), vectorLevel - 1) : levelOf(map);
  const std::pair<Value, uint64_t> key{value, elementKey(map)};
  if (auto found = levels[level].elements.find(key); found != levels[level].elements.end())
    return found->second;
  auto load = value.getDefiningOp<tt::LoadOp>();
  const bool isOne =
      load ? !context.affineInfo.affine(load.getPtr()) && chunkStride(value, map) == 0 : comparesUniformly(value, map);
  Element element = isOne ? firstLane(value, map, requester) : compute(value, map, level);
  if (!element) {
    isFailed = true;
    return {};
  }
  levels[level].elements[key] = element;
  return element;
}

Element NestEmitter::compute(Value value, const IndexMap &map, unsigned level) {
  const bool isVector = isVectorMap(map) && !inactiveScalar;
  if (DenseElementsAttr constant = context.buffers.initialOf(value))
    return {context.lanes.constant(constant.getSplatValue<Attribute>(), tt::elementOf(value.getType()), 1), false};
  if (auto found = context.plan.bufferOf.find(value);
      found != context.plan.bufferOf.end() && context.buffers.isReady(value)) {
    insertAt(level);
    Type element = tt::elementOf(value.getType());
    ChunkAccess access = bufferAccess(context.buffers.of(value), found->second, value.getType(), map);
    insertAt(level);
    if (isVector)
      return {read(access, element, nullptr, nullptr), true};
    llvm::Value *scalar = ir.CreateLoad(context.lanes.memoryType(element), access.address);
    return {element.isInteger(1) ? ir.CreateTrunc(scalar, ir.getInt1Ty()) : scalar, false};
  }
  if (const PrefixMask *prefix = context.affineInfo.prefix(value))
    return prefixElement(*prefix, value, map, level);
  Operation *op = value.getDefiningOp();
  if (!isComputable(op)) {
    emitError(value.getLoc()) << "a tile is used before it is computed";
    return {};
  }
  if (isa<tt::LoadOp>(op))
    return loadElement(op, map, level);
  if (std::optional<Element> moved = movedElement(op, map, level))
    return *moved;
  return computeOp(cast<OpResult>(value), map, level);
}

/// The comparison of a prefix mask, in lanes as narrow as the nest's elements allow.
Element NestEmitter::prefixElement(const PrefixMask &prefix, Value value, const IndexMap &map, unsigned level) {
  insertAt(0);
  llvm::Value *bound = context.scalars.clamped(prefix.bound, tt::shapeOf(value.getType())[prefix.dim]);
  insertAt(level);
  const int dim = map[prefix.dim];
  if (dim < 0) // one element of the dimension
    return {ir.CreateICmpSGT(bound, ir.getInt64(indexOfFixed(dim))), false};
  llvm::Value *left = ir.CreateSub(bound, indexOf(dim));
  if (dim != nest.vectorDim || chunkLanes == 1 || firstLaneOnly)
    return {ir.CreateICmpSGT(left, ir.getInt64(0)), false};
  left = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, ir.getInt64(0));
  left = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, ir.getInt64(chunkLanes));
  llvm::Type *lane = chunkLanes > 32 ? ir.getInt8Ty() : ir.getInt32Ty();
  SmallVector<llvm::Constant *> numbers;
  for (unsigned index = 0; index < chunkLanes; ++index)
    numbers.push_back(llvm::ConstantInt::get(lane, index));
  llvm::Value *count = ir.CreateVectorSplat(chunkLanes, ir.CreateTrunc(left, lane));
  return {ir.CreateICmpSLT(llvm::ConstantVector::get(numbers), count), true};
}

Element NestEmitter::rangeElement(int64_t start, const IndexMap &map) {
  llvm::Type *type = ir.getInt32Ty();
  llvm::Value *base = llvm::ConstantInt::getSigned(type, start);
  if (map[0] < 0)
    return {llvm::ConstantInt::getSigned(type, start + indexOfFixed(map[0])), false};
  llvm::Value *first = ir.CreateAdd(ir.CreateTrunc(indexOf(map[0]), type), base);
  if (!isVectorMap(map))
    return {first, false};
  SmallVector<llvm::Constant *> numbers;
  for (unsigned index = 0; index < chunkLanes; ++index)
    numbers.push_back(ir.getInt32(index));
  return {ir.CreateAdd(ir.CreateVectorSplat(chunkLanes, first), llvm::ConstantVector::get(numbers)), true};
}

/// Folds `and` and `or` with a known truth value: emission relies on masks being visibly constant.
static Element simplifyTruth(Operation *op, ArrayRef<Element> operands) {
  if (!isa<arith::AndIOp, arith::OrIOp>(op))
    return {};
  for (unsigned index = 0; index < 2; ++index) {
    auto *truth = dyn_cast<llvm::ConstantInt>(operands[index].value);
    if (!truth || truth->getBitWidth() != 1)
      continue;
    const bool decides = isa<arith::AndIOp>(op) ? truth->isZero() : truth->isOne();
    return decides ? operands[index] : operands[1 - index];
  }
  return {};
}

/// Whether the op has one result for all lanes of a chunk, which is slow to compute and may be that of the chunk
/// before.
bool NestEmitter::isWorthRemembering(Operation *op, const IndexMap &map, unsigned level) {
  const bool isSlow = isa<arith::DivFOp, tt::PreciseDivFOp, tt::PreciseSqrtOp, mlir::math::SqrtOp>(op) ||
                      (isSlowFunction(op) && isMemoryEffectFree(op));
  return isSlow && op->getNumResults() == 1 && chunkLanes > 1 && level == vectorLevel && !inactiveScalar &&
         llvm::is_contained(map, nest.vectorDim);
}

/// Emits an op on scalars under the condition that its operands differ from those of the chunk before, in any bit.
llvm::Value *NestEmitter::emitUnlessRepeated(Operation *op, ArrayRef<llvm::Value *> operands, unsigned level) {
  // No value outlives the nest: undefined ones would be carried through the loop over the programs.
  auto variable = [&](llvm::Type *type, const char *name, llvm::Value *initial) {
    llvm::AllocaInst *address = context.frame.local(type, name);
    insertAt(0);
    ir.CreateStore(initial, address);
    insertAt(level);
    return address;
  };
  auto undefined = [&](llvm::Type *type, const char *name) {
    return variable(type, name, llvm::UndefValue::get(type));
  };
  llvm::AllocaInst *isKnown = variable(ir.getInt1Ty(), "is.known", ir.getFalse());
  llvm::Value *isRepeated = ir.CreateLoad(ir.getInt1Ty(), isKnown);
  SmallVector<std::pair<llvm::Value *, llvm::AllocaInst *>> remembered; // the operands' bits
  for (llvm::Value *operand : operands) {
    if (isa<llvm::Constant>(operand))
      continue;
    llvm::Value *bits = context.lanes.bitsOf(operand);
    llvm::AllocaInst *last = undefined(bits->getType(), "last");
    isRepeated = ir.CreateAnd(isRepeated, ir.CreateICmpEQ(ir.CreateLoad(bits->getType(), last), bits));
    remembered.emplace_back(bits, last);
  }
  llvm::AllocaInst *slot = undefined(context.lanes.typeOf(tt::elementOf(op->getResult(0).getType()), 1), "result");
  bool isEmitted = true;
  emitWhere(
      ir.CreateNot(isRepeated),
      [&] {
        context.frame.setLocation(op->getLoc());
        auto results = context.lanes.emit(op, operands);
        isEmitted = !results.empty();
        if (!isEmitted)
          return;
        ir.CreateStore(results.front(), slot);
        ir.CreateStore(ir.getTrue(), isKnown);
        for (auto [bits, last] : remembered)
          ir.CreateStore(bits, last);
      },
      /*isRare=*/true);
  return isEmitted ? ir.CreateLoad(slot->getAllocatedType(), slot) : nullptr;
}

Element NestEmitter::computeOp(OpResult result, const IndexMap &map, unsigned level) {
  Operation *op = result.getOwner();
  Type element = tt::elementOf(result.getType());
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    insertAt(level);
    return rangeElement(static_cast<int32_t>(range.getStart()), map);
  }
  if (isa<ub::PoisonOp>(op))
    return {context.lanes.constant({}, element, 1), false};
  if (DenseElementsAttr constant; matchPattern(op, m_Constant(&constant))) {
    if (constant.isSplat())
      return {context.lanes.constant(constant.getSplatValue<Attribute>(), element, 1), false};
    tt::report(op->getLoc(), diag::TileConstantUnsupported);
    return {};
  }
  if (isa<tt::SplatOp>(op))
    return evaluate(op->getOperand(0), {}, level);
  if (isShapeChange(op))
    return evaluate(op->getOperand(0), *operandMap(result, 0, map), level);

  SmallVector<Element, 3> operands;
  // An op with an effect runs for each element, even where all operands are equal.
  bool isVector = isVectorMap(map) && !inactiveScalar && !isMemoryEffectFree(op);
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    operands.push_back(evaluate(operand, *operandMap(result, index, map), level));
    if (!operands.back())
      return {};
    isVector |= operands.back().isVector;
  }
  if (Element simple = simplifyTruth(op, operands))
    return simple;
  if (isa<arith::SelectOp>(op)) // a known condition needs only one operand
    if (auto *truth = dyn_cast<llvm::ConstantInt>(operands[0].value))
      return truth->isOne() ? operands[1] : operands[2];
  insertAt(level);
  context.frame.setLocation(op->getLoc());
  SmallVector<llvm::Value *, 3> values;
  for (Element operand : operands)
    values.push_back(isVector ? asVector(operand) : operand.value);
  if (!isVector && isWorthRemembering(op, map, level)) {
    llvm::Value *scalar = emitUnlessRepeated(op, values, level);
    return scalar ? Element{scalar, false} : Element();
  }
  auto results = context.lanes.emit(op, values);
  restoreLocation();
  if (results.empty())
    return {};
  for (auto [other, emitted] :
       llvm::zip_equal(op->getResults(), results)) // a call is not emitted again for each result
    levels[level].elements[{other, elementKey(map)}] = {emitted, isVector};
  return {results[result.getResultNumber()], isVector};
}

/// Whether all lanes in which no prefix holds have one value that can be computed without memory accesses.
bool NestEmitter::isUniformWhenInactive(Value value, const IndexMap &fullMap, unsigned depth) {
  constexpr unsigned maxDepth = 300;
  const IndexMap map = reduceMap(context.affineInfo, value, fullMap);
  if (!llvm::is_contained(map, nest.vectorDim))
    return true;
  auto [entry, isNew] = uniformWhenInactive.try_emplace({value, keyOf(map)}, false);
  if (!isNew || depth > maxDepth)
    return entry->second;
  const bool isUniform = findUniformWhenInactive(value, map, depth);
  uniformWhenInactive[{value, keyOf(map)}] = isUniform;
  return isUniform;
}

bool NestEmitter::findUniformWhenInactive(Value value, const IndexMap &map, unsigned depth) {
  if (const PrefixMask *prefix = context.affineInfo.prefix(value); prefix && map[prefix->dim] == nest.vectorDim)
    return isCounted(nest.vectorDim, prefix->bound);
  Operation *op = value.getDefiningOp();
  if (context.buffers.initialOf(value))
    return true;
  if (context.plan.bufferOf.contains(value) && context.buffers.isReady(value))
    return false;
  if (auto load = dyn_cast_or_null<tt::LoadOp>(op)) {
    const bool isOff =
        load.getMask() && llvm::any_of(conjuncts(context.affineInfo, load.getMask(), map), [&](Conjunct &part) {
          return part.prefix && static_cast<int>(part.prefix->dim) == nest.vectorDim &&
                 isCounted(nest.vectorDim, part.prefix->bound);
        });
    return isOff && (!load.getOther() || isUniformWhenInactive(load.getOther(), map, depth + 1));
  }
  if (!isComputable(op) || isa<tt::MakeRangeOp>(op) || indexedOperand(op) || op->getNumOperands() == 0)
    return false;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (isa<RankedTensorType>(operand.getType()) &&
        !isUniformWhenInactive(operand, *operandMap(value, index, map), depth + 1))
      return false;
  return true;
}

/// Evaluates deep expressions from the leaves up, so that the recursion of `evaluate` ends after one step.
void NestEmitter::evaluateInOrder(unsigned level) {
  constexpr size_t harmless = 300;
  std::vector<std::pair<Value, IndexMap>> values;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (isa<RankedTensorType>(value.getType()))
      values.emplace_back(value, map);
    return !(context.plan.bufferOf.contains(value) && context.buffers.isReady(value));
  });
  for (const Root &root : nest.roots)
    walk.root(root);
  if (values.size() <= harmless)
    return;
  llvm::stable_sort(
      values, [&](const auto &a, const auto &b) { return context.positionOf(a.first) < context.positionOf(b.first); });
  for (const auto &[value, map] : values)
    evaluate(value, map, level);
}
