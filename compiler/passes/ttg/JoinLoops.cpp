// Pairs the ops of two loops' bodies, from the top by their operands and from the results by what they compute, and
// builds one body from the pairs.
//
//   for %i = 0 to %m { %x = f(%i); %y = g(%x); h(%y) }    ->  for %i = 0 to %n { %x = f(%i)
//   for %i = %m to %n { %x = f(%i); %y = k(%x); h(%y) }         %y = if %i < %m { g(%x) } else { k(%x) }
//                                                               h(%y) }
//
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/JoinLoops.h"

#include "compiler/passes/ttg/LoopParts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
class LoopJoiner {
public:
  LoopJoiner(scf::ForOp first, scf::ForOp second) : first(first), second(second) {}

  bool pair(const index::AxisInfoAnalysis &axisInfo);
  scf::ForOp build(RewriterBase &rewriter);
  void replace(scf::ForOp loop, RewriterBase &rewriter);

private:
  using OpSet = llvm::DenseSet<Operation *>;

  bool pairCarriedValues();
  bool pairBodies();
  void pairByOperands();
  void pairByUse(Value a, Value b);
  bool matches(Value a, Value b) const { return a == b || partners.lookup(a) == b; }
  bool isPaired(Operation *op) const { return partnerOps.contains(op); }
  void pairOps(Operation *a, Operation *b);
  void unpair(Operation *a);
  OpSet dependentOnBranch(scf::ForOp loop) const;
  bool splitCyclesOnce();
  bool splitFusedOnce();
  bool sinkOnce();
  bool restHasNoEffects() const;
  bool keepsOrderOfEffects() const;
  SmallVector<Operation *> unpaired(scf::ForOp loop) const;
  SmallVector<std::pair<Value, Value>> differing() const;
  scf::ForOp createLoop(RewriterBase &rewriter);
  void emit(RewriterBase &rewriter, Operation *op);
  void emitBranch(RewriterBase &rewriter, Value isFirst);

  mutable scf::ForOp first, second;                    // MLIR's handles have few const methods
  llvm::DenseMap<Value, Value> partners;               ///< value of the first loop -> the same value of the second
  llvm::DenseMap<Operation *, Operation *> partnerOps; ///< in both directions
  SmallVector<unsigned> order;                         ///< carried value of the second loop -> that of the first one
  llvm::MapVector<std::pair<Value, Value>, Value>
      merged; ///< a pair of partners -> the value that the branch yields for it
  IRMapping fromFirst, fromSecond;
};
} // namespace

//--- loops ---------------------------------------------------------------------------------

/// Whether the first loop's last iteration ends at its bound, so that the next one is the second loop's first.
static bool endsAtBound(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo) {
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.isNonPositive())
    return false;
  const int64_t by = step.getSExtValue();
  return axisInfo.of(loop.getLowerBound()).elementDivisibility() % by == 0 &&
         axisInfo.of(loop.getUpperBound()).elementDivisibility() % by == 0;
}

/// Whether an op of the body has regions that use values of the body.
static bool capturesValues(scf::ForOp loop) {
  llvm::SetVector<Value> captured;
  for (Operation &op : *loop.getBody())
    getUsedValuesDefinedAbove(op.getRegions(), captured);
  return llvm::any_of(captured, [&](Value value) { return value.getParentBlock() == loop.getBody(); });
}

/// Whether ops between the loops can run before the first one.
static bool canHoistBetween(scf::ForOp first, scf::ForOp second) {
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (!isPure(op) || op->getNumRegions() > 0 ||
        llvm::any_of(op->getOperands(), [&](Value value) { return value.getDefiningOp() == first; }))
      return false;
  return true;
}

bool LoopJoiner::pairCarriedValues() {
  if (first.getNumResults() != second.getNumResults())
    return false;
  llvm::DenseSet<unsigned> seen;
  for (Value init : second.getInitArgs()) {
    auto result = dyn_cast<OpResult>(init);
    if (!result || result.getOwner() != first || !seen.insert(result.getResultNumber()).second)
      return false;
    order.push_back(result.getResultNumber());
  }
  partners[first.getInductionVar()] = second.getInductionVar();
  for (auto [index, from] : llvm::enumerate(order))
    partners[first.getRegionIterArg(from)] = second.getRegionIterArg(index);
  return llvm::all_of(first->getUsers(), [&](Operation *user) { return user == second; });
}

//--- pairs of ops --------------------------------------------------------------------------

/// Whether the ops compute the same of the same operands.
static bool isSameOp(Operation *a, Operation *b) {
  auto sameRegion = [](auto regions) {
    auto [x, y] = regions;
    return OperationEquivalence::isRegionEquivalentTo(&x, &y, OperationEquivalence::IgnoreLocations);
  };
  return a->getName() == b->getName() && a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getResultTypes() == b->getResultTypes() && a->getOperandTypes() == b->getOperandTypes() &&
         a->getNumRegions() == b->getNumRegions() &&
         llvm::all_of(llvm::zip_equal(a->getRegions(), b->getRegions()), sameRegion);
}

void LoopJoiner::pairOps(Operation *a, Operation *b) {
  partnerOps[a] = b;
  partnerOps[b] = a;
  for (auto [x, y] : llvm::zip_equal(a->getResults(), b->getResults()))
    partners[x] = y;
}

void LoopJoiner::unpair(Operation *a) {
  Operation *b = partnerOps.lookup(a);
  partnerOps.erase(a);
  partnerOps.erase(b);
  for (Operation *op : {a, b})
    for (Value result : op->getResults())
      partners.erase(result);
}

void LoopJoiner::pairByOperands() {
  for (Operation &b : second.getBody()->without_terminator())
    for (Operation &a : first.getBody()->without_terminator()) {
      auto same = [&](auto operands) { return matches(std::get<0>(operands), std::get<1>(operands)); };
      if (isPaired(&a) || !isSameOp(&a, &b) || !llvm::all_of(llvm::zip_equal(a.getOperands(), b.getOperands()), same))
        continue;
      pairOps(&a, &b);
      break;
    }
}

/// Pairs what computes two values that are used in the same way.
void LoopJoiner::pairByUse(Value a, Value b) {
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (matches(a, b) || !x || !y || x->getBlock() != first.getBody() || y->getBlock() != second.getBody() ||
      isPaired(x) || isPaired(y) || !isSameOp(x, y) ||
      cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber())
    return;
  pairOps(x, y);
  for (auto [p, q] : llvm::zip_equal(x->getOperands(), y->getOperands()))
    pairByUse(p, q);
}

//--- the branch ----------------------------------------------------------------------------

/// The values that paired ops, or both loops' ends, use in the same place and that differ: the branch yields these.
SmallVector<std::pair<Value, Value>> LoopJoiner::differing() const {
  llvm::SetVector<std::pair<Value, Value>> pairs;
  auto look = [&](Value a, Value b) {
    if (!matches(a, b))
      pairs.insert({a, b});
  };
  for (Operation &op : first.getBody()->without_terminator())
    if (Operation *other = partnerOps.lookup(&op))
      for (auto [a, b] : llvm::zip_equal(op.getOperands(), other->getOperands()))
        look(a, b);
  for (auto [index, from] : llvm::enumerate(order))
    look(first.getYieldedValues()[from], second.getYieldedValues()[index]);
  return pairs.takeVector();
}

SmallVector<Operation *> LoopJoiner::unpaired(scf::ForOp loop) const {
  SmallVector<Operation *> ops;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isPaired(&op))
      ops.push_back(&op);
  return ops;
}

/// The paired ops that use, directly or not, what the branch yields.
LoopJoiner::OpSet LoopJoiner::dependentOnBranch(scf::ForOp loop) const {
  OpSet dependent;
  for (Operation &op : first.getBody()->without_terminator()) {
    if (!isPaired(&op))
      continue;
    Operation *other = partnerOps.lookup(&op);
    for (auto [a, b] : llvm::zip_equal(op.getOperands(), other->getOperands()))
      if (!matches(a, b) || dependent.contains(a.getDefiningOp()))
        dependent.insert(&op);
  }
  if (loop == first)
    return dependent;
  OpSet others;
  for (Operation *op : dependent)
    others.insert(partnerOps.lookup(op));
  return others;
}

/// Unpairs ops that depend on the branch and that the branch depends on.
bool LoopJoiner::splitCyclesOnce() {
  for (scf::ForOp loop : {first, second}) {
    const OpSet dependent = dependentOnBranch(loop);
    auto needed = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (!op || !dependent.contains(op))
        return false;
      unpair(op);
      return true;
    };
    for (Operation *op : unpaired(loop))
      if (llvm::any_of(op->getOperands(), needed))
        return true;
    for (auto [a, b] : differing())
      if (needed(loop == first ? a : b))
        return true;
  }
  return false;
}

/// Unpairs a sum of a product in one of the loops: in one block they are one instruction.
bool LoopJoiner::splitFusedOnce() {
  auto isOfProduct = [&](auto operands) {
    auto [a, b] = operands;
    return !matches(a, b) && (a.template getDefiningOp<arith::MulFOp>() || b.template getDefiningOp<arith::MulFOp>());
  };
  for (Operation &op : first.getBody()->without_terminator())
    if (Operation *other = partnerOps.lookup(&op);
        other && isa<arith::AddFOp, arith::SubFOp>(op) &&
        llvm::any_of(llvm::zip_equal(op.getOperands(), other->getOperands()), isOfProduct)) {
      unpair(&op);
      return true;
    }
  return false;
}

/// Unpairs a product that only the branch uses.
bool LoopJoiner::sinkOnce() {
  auto isUsedInBranch = [&](Operation *op) {
    return llvm::none_of(op->getUsers(),
                         [&](Operation *user) { return isPaired(user) || user->hasTrait<OpTrait::IsTerminator>(); });
  };
  for (Operation &op : first.getBody()->without_terminator())
    if (Operation *other = partnerOps.lookup(&op);
        other && isa<arith::MulFOp>(op) && isUsedInBranch(&op) && isUsedInBranch(other)) {
      unpair(&op);
      return true;
    }
  return false;
}

bool LoopJoiner::restHasNoEffects() const {
  for (scf::ForOp loop : {first, second})
    for (Operation *op : unpaired(loop))
      if (!isMemoryEffectFree(op))
        return false;
  return true;
}

/// Whether the ops with effects stand in one order in both bodies and in the joined one, where those that depend on the
/// branch come last.
bool LoopJoiner::keepsOrderOfEffects() const {
  const OpSet dependent = dependentOnBranch(first);
  Operation *before = nullptr;
  bool isAfterBranch = false;
  for (Operation &op : first.getBody()->without_terminator()) {
    if (!isPaired(&op) || isMemoryEffectFree(&op))
      continue;
    Operation *other = partnerOps.lookup(&op);
    if (before && !before->isBeforeInBlock(other))
      return false;
    before = other;
    if (dependent.contains(&op))
      isAfterBranch = true;
    else if (isAfterBranch)
      return false;
  }
  return true;
}

bool LoopJoiner::pairBodies() {
  pairByOperands();
  for (auto [index, from] : llvm::enumerate(order))
    pairByUse(first.getYieldedValues()[from], second.getYieldedValues()[index]);
  while (splitCyclesOnce() || splitFusedOnce() || sinkOnce()) {
  }
  return restHasNoEffects() && keepsOrderOfEffects();
}

bool LoopJoiner::pair(const index::AxisInfoAnalysis &axisInfo) {
  return second.getUpperBound().getDefiningOp() != first && first->getBlock() == second->getBlock() &&
         first->isBeforeInBlock(second) && first.getUpperBound() == second.getLowerBound() &&
         first.getStep() == second.getStep() && first.getUnsignedCmp() == second.getUnsignedCmp() &&
         first->getDiscardableAttrDictionary() == second->getDiscardableAttrDictionary() &&
         endsAtBound(first, axisInfo) && !capturesValues(first) && !capturesValues(second) &&
         canHoistBetween(first, second) && pairCarriedValues() && pairBodies();
}

//--- the joined loop -----------------------------------------------------------------------

/// Emits a paired op once, with what the branch yields where its operands differ.
void LoopJoiner::emit(RewriterBase &rewriter, Operation *op) {
  Operation *other = partnerOps.lookup(op), *copy = rewriter.clone(*op, fromFirst);
  for (auto [index, a] : llvm::enumerate(op->getOperands()))
    if (Value b = other->getOperand(index); !matches(a, b))
      copy->setOperand(index, merged.lookup({a, b}));
  fromFirst.map(op->getResults(), copy->getResults());
  fromSecond.map(other->getResults(), copy->getResults());
}

void LoopJoiner::emitBranch(RewriterBase &rewriter, Value isFirst) {
  SmallVector<Type> types;
  for (auto &[values, result] : merged)
    types.push_back(values.first.getType());
  auto branch = scf::IfOp::create(rewriter, second.getLoc(), types, isFirst, /*withElseRegion=*/true);
  auto fill = [&](Block *block, scf::ForOp loop, IRMapping mapping, auto pick) {
    eraseTerminator(*block);
    rewriter.setInsertionPointToEnd(block);
    for (Operation *op : unpaired(loop))
      rewriter.clone(*op, mapping);
    SmallVector<Value> yields;
    for (auto &[values, result] : merged)
      yields.push_back(mapping.lookupOrDefault(pick(values)));
    scf::YieldOp::create(rewriter, loop.getLoc(), yields);
  };
  fill(branch.thenBlock(), first, fromFirst, [](const auto &values) { return values.first; });
  fill(branch.elseBlock(), second, fromSecond, [](const auto &values) { return values.second; });
  rewriter.setInsertionPointAfter(branch);
  for (auto [entry, result] : llvm::zip_equal(merged, branch.getResults()))
    entry.second = result;
}

/// The bound that comes first or last.
static Value outer(OpBuilder &builder, scf::ForOp loop, Value a, Value b, bool last) {
  Value isBelow = arith::CmpIOp::create(builder, loop.getLoc(), comparisonOf(loop), a, b);
  return arith::SelectOp::create(builder, loop.getLoc(), isBelow, last ? b : a, last ? a : b);
}

/// The loop over both ranges, without a body.
scf::ForOp LoopJoiner::createLoop(RewriterBase &rewriter) {
  rewriter.setInsertionPoint(first);
  // Where one of the loops has no iteration, the other one's bounds hold.
  Value middle = first.getUpperBound();
  Value begin = outer(rewriter, first, first.getLowerBound(), middle, /*last=*/false);
  Value end = outer(rewriter, second, middle, second.getUpperBound(), /*last=*/true);
  auto loop = scf::ForOp::create(rewriter, second.getLoc(), begin, end, first.getStep(), first.getInitArgs(), nullptr,
                                 first.getUnsignedCmp());
  loop->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  eraseTerminator(*loop.getBody());
  fromFirst.map(first.getInductionVar(), loop.getInductionVar());
  fromSecond.map(second.getInductionVar(), loop.getInductionVar());
  fromFirst.map(first.getRegionIterArgs(), loop.getRegionIterArgs());
  for (auto [index, from] : llvm::enumerate(order))
    fromSecond.map(second.getRegionIterArg(index), loop.getRegionIterArg(from));
  return loop;
}

scf::ForOp LoopJoiner::build(RewriterBase &rewriter) {
  while (first->getNextNode() != second)
    rewriter.moveOpBefore(first->getNextNode(), first);
  const OpSet dependent = dependentOnBranch(first);
  for (auto values : differing())
    merged.insert({values, Value()});

  scf::ForOp loop = createLoop(rewriter);
  rewriter.setInsertionPointToEnd(loop.getBody());
  for (Operation &op : first.getBody()->without_terminator())
    if (isPaired(&op) && !dependent.contains(&op))
      emit(rewriter, &op);
  if (!merged.empty()) {
    Value isFirst = arith::CmpIOp::create(rewriter, second.getLoc(), comparisonOf(first), loop.getInductionVar(),
                                          first.getUpperBound());
    emitBranch(rewriter, isFirst);
  }
  for (Operation &op : first.getBody()->without_terminator())
    if (dependent.contains(&op))
      emit(rewriter, &op);
  SmallVector<Value> yields(order.size());
  for (auto [index, from] : llvm::enumerate(order)) {
    Value a = first.getYieldedValues()[from], b = second.getYieldedValues()[index];
    yields[from] = matches(a, b) ? fromFirst.lookupOrDefault(a) : merged.lookup({a, b});
  }
  scf::YieldOp::create(rewriter, second.getLoc(), yields);
  return loop;
}

void LoopJoiner::replace(scf::ForOp loop, RewriterBase &rewriter) {
  for (auto [index, from] : llvm::enumerate(order))
    rewriter.replaceAllUsesWith(second.getResult(index), loop.getResult(from));
  rewriter.eraseOp(second);
  rewriter.eraseOp(first);
}

scf::ForOp ttg::joinLoops(scf::ForOp first, scf::ForOp second, const index::AxisInfoAnalysis &axisInfo,
                          RewriterBase &rewriter, llvm::function_ref<bool(scf::ForOp)> accepts) {
  LoopJoiner joiner(first, second);
  if (!joiner.pair(axisInfo))
    return {};
  scf::ForOp loop = joiner.build(rewriter);
  if (!accepts(loop)) {
    rewriter.eraseOp(loop);
    return {};
  }
  joiner.replace(loop, rewriter);
  return loop;
}
