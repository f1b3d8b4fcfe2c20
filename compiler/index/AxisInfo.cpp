// Visits the ops of a function in order, and loops until their axis info holds for every iteration.
// SPDX-License-Identifier: MIT
#include "compiler/index/AxisInfo.h"

#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/index/AxisRules.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

static constexpr int64_t largestPower = int64_t(1) << 30;

int64_t index::powerOfTwoIn(int64_t value) {
  return value == 0 ? largestPower : int64_t(1) << std::min(30, llvm::countr_zero(uint64_t(value)));
}

int64_t AxisInfo::divisibilityAt(unsigned dim, int64_t size) const {
  const auto &[group, step, divisibility] = dims[dim];
  return size >= group ? divisibility : std::min(divisibility, powerOfTwoIn(size * step));
}

int64_t AxisInfo::alignedGroup(unsigned dim, int64_t most) const {
  const int64_t step = dims[dim].step;
  int64_t size = step < 0 ? 1 : dims[dim].group;
  while (step * (size - 1) >= std::min(divisibilityAt(dim, size), most))
    size /= 2;
  return size;
}

void AxisInfo::setGroup(unsigned dim, int64_t size, int64_t step) {
  const bool isKnown = size > 1 && llvm::isInt<32>(step);
  dims[dim].group = isKnown ? size : 1;
  dims[dim].step = isKnown ? step : 0;
}

int64_t AxisInfo::elementDivisibility() const {
  int64_t best = 1;
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    best = std::max(best, divisibilityAt(dim, 1));
  return best;
}

AxisInfo AxisInfo::join(const AxisInfo &a, const AxisInfo &b) {
  AxisInfo both;
  both.dims.resize(a.dims.size());
  both.unit = a.unit;
  for (unsigned dim = 0; dim < a.dims.size(); ++dim) {
    if (a.dims[dim].step == b.dims[dim].step)
      both.setGroup(dim, std::min(a.dims[dim].group, b.dims[dim].group), a.dims[dim].step);
    const int64_t size = both.dims[dim].group;
    both.dims[dim].divisibility = std::min(a.divisibilityAt(dim, size), b.divisibilityAt(dim, size));
  }
  both.range = a.range.join(b.range);
  return both;
}

//--- traversal -----------------------------------------------------------------------------

AxisInfoAnalysis::AxisInfoAnalysis(Operation *root) {
  root->walk([&](tt::FuncOp function) { visitFunction(function); });
}

AxisInfo AxisInfoAnalysis::of(Value value) const {
  auto found = infos.find(value);
  return found == infos.end() ? unknownInfo(value.getType()) : found->second;
}

IntegerRange AxisInfoAnalysis::rangeOf(Value value) const {
  auto found = infos.find(value);
  return found == infos.end() ? IntegerRange::whole(value.getType()) : found->second.range;
}

void AxisInfoAnalysis::set(Value value, AxisInfo info) { infos[value] = std::move(info); }

void AxisInfoAnalysis::visitFunction(tt::FuncOp function) {
  if (function.isExternal())
    return;
  for (BlockArgument argument : function.getArguments()) {
    AxisInfo info = unknownInfo(argument.getType());
    const unsigned index = argument.getArgNumber();
    addHints(info, function.getArgAttr(index, "tt.divisibility"), function.getArgAttr(index, "tt.contiguity"),
             function.getArgAttr(index, "tt.constancy"));
    set(argument, info);
  }
  for (Block &block : function.getBody())
    visitBlock(block);
}

void AxisInfoAnalysis::visitBlock(Block &block) {
  SmallVector<std::pair<Value, AxisInfo>> before;
  for (Operation &op : block) {
    if (auto assumption = dyn_cast<imported::AssumeOp>(op))
      assumeHolds(assumption.getCondition(), block, before);
    else
      visit(op);
  }
  for (auto &[value, info] : llvm::reverse(before))
    set(value, std::move(info));
}

/// The power of two that `x % c == 0` or `x & (c - 1) == 0` proves to divide x; 1 for other values.
static int64_t powerTested(Operation *rest, std::optional<int64_t> operand) {
  if (!operand || *operand < 1)
    return 1;
  if (isa<arith::RemSIOp, arith::RemUIOp>(rest))
    return powerOfTwoIn(*operand);
  return isa<arith::AndIOp>(rest) && llvm::isPowerOf2_64(*operand + 1) ? powerOfTwoIn(*operand + 1) : 1;
}

/// Applies a condition on remainders and signs, or an `and` of them, from here to the end of the basic block.
void AxisInfoAnalysis::assumeHolds(Value condition, Block &block, Restored &before) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op)) {
    assumeHolds(op->getOperand(0), block, before);
    return assumeHolds(op->getOperand(1), block, before);
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  const std::optional<int64_t> bound = compare ? of(compare.getRhs()).constant() : std::nullopt;
  if (!bound)
    return;
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = compare.getPredicate();
  Value value = compare.getLhs();
  Operation *rest = value.getDefiningOp();
  int64_t power = 1;
  if (predicate == Predicate::eq && *bound == 0 && rest && rest->getNumOperands() == 2) {
    power = powerTested(rest, of(rest->getOperand(1)).constant());
    value = rest->getOperand(0);
  }
  AxisInfo info = of(value);
  for (AxisInfo::Dim &dim : info.dims)
    dim.divisibility = std::max(dim.divisibility, power);
  if (value == compare.getLhs())
    info.range = info.range.where(predicate, *bound);
  // A loop that does not run returns its initial values, of which its body proves nothing.
  const bool isCarried = isa<BlockArgument>(value) && !isa<tt::FuncOp>(block.getParentOp());
  if (isCarried || value.getParentBlock() != &block)
    before.push_back({value, of(value)});
  set(value, std::move(info));
}

void AxisInfoAnalysis::visit(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return visitBranches(op);
  if (auto roles = dyn_cast<ttg::WarpSpecializeOp>(op))
    return visitWarps(roles);
  if (op.getNumResults() != 1) {
    for (Value result : op.getResults())
      set(result, unknownInfo(result.getType()));
    return;
  }
  AxisInfo info = transfer(&op, *this);
  addHints(info, op.getDiscardableAttr("tt.divisibility"), op.getDiscardableAttr("tt.contiguity"),
           op.getDiscardableAttr("tt.constancy"));
  set(op.getResult(0), std::move(info));
}

void AxisInfoAnalysis::assign(ValueRange targets, ValueRange sources) {
  for (auto [target, source] : llvm::zip_equal(targets, sources))
    set(target, of(source));
}

/// With repetition a range that grows is bounded by no more than its sign, so that it grows twice at most.
bool AxisInfoAnalysis::joinInto(ValueRange targets, ValueRange sources, bool isRepeated) {
  bool changed = false;
  for (auto [target, source] : llvm::zip_equal(targets, sources)) {
    const AxisInfo before = of(target);
    AxisInfo joined = AxisInfo::join(before, of(source));
    if (isRepeated && joined.range != before.range) {
      const bool isNonNegative = joined.isNonNegative();
      joined.range = IntegerRange::whole(target.getType());
      joined.range.low = isNonNegative ? 0 : joined.range.low;
    }
    changed |= !(joined == before);
    set(target, joined);
  }
  return changed;
}

/// Info only gets weaker, and each number can be halved thirty times, but few rounds suffice in practice. When
/// everything about a loop's carried values is dropped, the next round is the last.
static constexpr unsigned roundsBeforeForgetting = 5;

void AxisInfoAnalysis::visitUntilStable(ValueRange carried, ValueRange next, llvm::function_ref<void()> visitBody) {
  for (unsigned round = 0;; ++round) {
    visitBody();
    if (!joinInto(carried, next, /*isRepeated=*/true))
      return;
    if (round == roundsBeforeForgetting)
      for (Value value : carried)
        set(value, unknownInfo(value.getType()));
  }
}

void AxisInfoAnalysis::visitFor(scf::ForOp loop) {
  const AxisInfo from = of(loop.getLowerBound()), step = of(loop.getStep());
  AxisInfo index;
  index.dims[0].divisibility = std::min(from.elementDivisibility(), step.elementDivisibility());
  index.range = IntegerRange::whole(loop.getInductionVar().getType());
  if (!loop.getUnsignedCmp() && step.range.low >= 1) {
    index.range.low = from.range.low;
    index.range.high = std::max(index.range.low, of(loop.getUpperBound()).range.high - 1);
  }
  set(loop.getInductionVar(), index);
  assign(loop.getRegionIterArgs(), loop.getInitArgs());
  visitUntilStable(loop.getRegionIterArgs(), loop.getYieldedValues(), [&] { visitBlock(*loop.getBody()); });
  assign(loop.getResults(), loop.getRegionIterArgs());
}

void AxisInfoAnalysis::visitWhile(scf::WhileOp loop) {
  assign(loop.getBeforeArguments(), loop.getInits());
  visitUntilStable(loop.getBeforeArguments(), loop.getYieldOp().getResults(), [&] {
    visitBlock(*loop.getBeforeBody());
    assign(loop.getAfterArguments(), loop.getConditionOp().getArgs());
    visitBlock(*loop.getAfterBody());
  });
  assign(loop.getResults(), loop.getConditionOp().getArgs());
}

void AxisInfoAnalysis::visitWarps(ttg::WarpSpecializeOp op) {
  for (Region &region : op->getRegions()) {
    assign(region.getArguments(), region.getNumArguments() ? ValueRange(op.getCaptures()) : ValueRange());
    visitBlock(region.front());
  }
  assign(op.getResults(), op.getDefaultRegion().front().getTerminator()->getOperands());
}

void AxisInfoAnalysis::visitBranches(Operation &op) {
  bool isFirst = true;
  for (Region &region : op.getRegions()) {
    if (region.empty())
      continue;
    visitBlock(region.front());
    ValueRange yielded = region.front().getTerminator()->getOperands();
    if (isFirst)
      assign(op.getResults(), yielded);
    else
      joinInto(op.getResults(), yielded, /*isRepeated=*/false);
    isFirst = false;
  }
}
