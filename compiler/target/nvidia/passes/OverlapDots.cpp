// Finds loops of two chained dots, makes the dots asynchronous and orders the ops of two iterations around them.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/OverlapDots.h"

#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/target/nvidia/passes/AsyncDots.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

using OpSet = llvm::SmallSetVector<Operation *, 16>;

/// The ops of the loop's body that depend on a value it carries.
static OpSet dependentOn(BlockArgument carried) {
  OpSet found;
  Block *body = carried.getOwner();
  SmallVector<Value> todo = {carried};
  while (!todo.empty())
    for (Operation *user : todo.pop_back_val().getUsers()) {
      Operation *op = body->findAncestorOpInBlock(*user);
      if (op && !op->hasTrait<OpTrait::IsTerminator>() && found.insert(op))
        llvm::append_range(todo, op->getResults());
    }
  return found;
}

//--- loops of chained dots -----------------------------------------------------------------

/// Whether every value that the loop carries comes from an op of its body, or does not change.
static bool carriesOwnValues(scf::ForOp loop) {
  return llvm::all_of(llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()), [&](auto pair) {
    auto [argument, next] = pair;
    return next == argument || (next.getDefiningOp() && next.getDefiningOp()->getBlock() == loop.getBody());
  });
}

/// Whether the op may run beside those of another iteration, and the warp groups need not meet in it.
static bool mayOverlap(Operation &op, ArrayRef<Operation *> loads) {
  const WalkResult barriers = op.walk([](Operation *inside) {
    return analysis::barriersWithin(inside) > 0 ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (barriers.wasInterrupted())
    return false;
  if (auto allocation = dyn_cast<LocalAllocOp>(op))
    return allocation.getSrc() && llvm::is_contained(loads, allocation.getSrc().getDefiningOp());
  return isMemoryEffectFree(&op) || llvm::is_contained(loads, &op) ||
         isa<ttng::WarpGroupDotOp, ttng::FenceAsyncSharedOp>(op);
}

/// The value that the loop carries for the second dot, whose result it only yields.
static BlockArgument accumulatorOf(ChainedDots dots, scf::ForOp loop) {
  return loop.getRegionIterArg(dots.second.getD().use_begin()->getOperandNumber());
}

std::optional<ChainedDots> nvidia::findChainedDots(scf::ForOp loop, ArrayRef<Operation *> loads) {
  Block &body = *loop.getBody();
  SmallVector<ttng::WarpGroupDotOp> dots(body.getOps<ttng::WarpGroupDotOp>());
  if (dots.size() != 2 || !carriesOwnValues(loop) || !isa<RankedTensorType>(dots[1].getA().getType()) ||
      !llvm::all_of(dots, accumulatesInFullPrecision) || !dots[1].getD().hasOneUse() ||
      !llvm::all_of(body.without_terminator(), [&](Operation &op) { return mayOverlap(op, loads); }))
    return std::nullopt;
  if (!isa<scf::YieldOp>(*dots[1].getD().user_begin()))
    return std::nullopt;
  const ChainedDots found = {dots[0], dots[1]};
  const OpSet late = dependentOn(accumulatorOf(found, loop));
  if (late.contains(dots[0]) || !late.contains(dots[1]))
    return std::nullopt;
  // What the early ops use of the iteration before must be early as well.
  for (Operation &op : body.without_terminator()) {
    if (late.contains(&op))
      continue;
    const WalkResult result = op.walk([&](Operation *inside) {
      for (Value operand : inside->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand);
            argument && argument.getOwner() == &body && argument != loop.getInductionVar() &&
            late.contains(loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp()))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return std::nullopt;
  }
  return found;
}

//--- the schedule --------------------------------------------------------------------------

namespace {
class DotOverlap {
public:
  DotOverlap(scf::ForOp loop, ChainedDots dots, RewriterBase &rewriter)
      : loop(loop), dots(dots), rewriter(rewriter), late(dependentOn(accumulatorOf(dots, loop))) {}

  void makeAsync(RingAccess &first, RingAccess &second);
  void takeTurns();
  void expand();

private:
  ttng::WarpGroupDotWaitOp waitFor(ttng::WarpGroupDotOp dot, unsigned pendings, Operation *release);
  bool isOnlyUsedIn(Operation &op, const OpSet &set);
  void delayCheapOps();
  LoopSchedule schedule();

  scf::ForOp loop;
  ChainedDots dots;
  RewriterBase &rewriter;
  OpSet late;                         ///< ops of the second stage
  Operation *waitForSecond = nullptr; ///< until the second dot's buffer is filled
  Operation *turnBegin = nullptr, *turnEnd = nullptr;
};
} // namespace

/// Ends a dot, after which its buffer goes back to the ring.
ttng::WarpGroupDotWaitOp DotOverlap::waitFor(ttng::WarpGroupDotOp dot, unsigned pendings, Operation *release) {
  dot.setIsAsync(true);
  SmallVector<Value> inputs = {dot.getD(), dot.getA(), dot.getB()};
  rewriter.setInsertionPointAfter(dot);
  auto wait = ttng::WarpGroupDotWaitOp::create(rewriter, dot.getLoc(), ValueRange(inputs).getTypes(), inputs, pendings);
  rewriter.replaceAllUsesExcept(dot.getD(), wait.getResult(0), wait);
  rewriter.moveOpAfter(release, wait);
  return wait;
}

void DotOverlap::makeAsync(RingAccess &first, RingAccess &second) {
  waitFor(dots.first, /*pendings=*/1, first.release);
  late.insert(waitFor(dots.second, /*pendings=*/0, second.release));
  late.insert(second.release);
  late.insert(second.fence);
  waitForSecond = second.wait;
}

/// The other warp group's dots run while this one computes.
void DotOverlap::takeTurns() {
  rewriter.setInsertionPoint(dots.second);
  turnBegin = ttng::TurnBeginOp::create(rewriter, dots.second.getLoc());
  rewriter.setInsertionPointAfter(dots.second);
  turnEnd = ttng::TurnEndOp::create(rewriter, dots.second.getLoc());
}

bool DotOverlap::isOnlyUsedIn(Operation &op, const OpSet &set) {
  return !op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
    return set.contains(loop.getBody()->findAncestorOpInBlock(*user));
  });
}

/// Registers of values that differ between iterations.
static unsigned registersOf(ValueRange values, scf::ForOp loop) {
  unsigned sum = 0;
  for (Value value : values)
    if (!loop.isDefinedOutsideOfLoop(value))
      sum += analysis::registersOf(value.getType());
  return sum;
}

/// Moves ops to the second stage that only serve it and have results no smaller than their operands, which are then
/// carried instead.
void DotOverlap::delayCheapOps() {
  for (Operation &op : llvm::reverse(loop.getBody()->without_terminator()))
    if (!late.contains(&op) && isPure(&op) && op.getNumRegions() == 0 && isOnlyUsedIn(op, late) &&
        registersOf(op.getOperands(), loop) <= registersOf(op.getResults(), loop))
      late.insert(&op);
}

/// The next iteration's first dot, this one's second dot, the rest of the next iteration; then the second dot ends and
/// its next operand is formed. The wait for the next iteration's buffer of the second dot stands before the end of this
/// one: ptxas, which may move the end of a dot within a basic block, does not move it over a loop that waits.
LoopSchedule DotOverlap::schedule() {
  delayCheapOps();
  OpSet last;
  for (Operation &op : llvm::reverse(loop.getBody()->without_terminator())) {
    OpSet after = late;
    after.insert_range(last);
    if (!late.contains(&op) && dots.first->isBeforeInBlock(&op) && isPure(&op) && isOnlyUsedIn(op, after))
      last.insert(&op);
  }
  std::vector<Operation *> start, middle, rest, end;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == turnBegin || &op == turnEnd || &op == waitForSecond)
      continue;
    if (late.contains(&op))
      (dots.second->isBeforeInBlock(&op) ? end : middle).push_back(&op);
    else if (!last.contains(&op))
      (dots.first->isBeforeInBlock(&op) ? rest : start).push_back(&op);
  }
  LoopSchedule result;
  result.lastStage = 1;
  auto add = [&](ArrayRef<Operation *> ops, unsigned stage) {
    for (Operation *op : ops)
      if (op)
        result.entries.push_back({op, stage});
  };
  add(turnBegin, 1);
  add(start, 0);
  add(middle, 1);
  add(turnEnd, 1);
  add(rest, 0);
  add(waitForSecond, 0);
  add(end, 1);
  add(llvm::to_vector(llvm::reverse(last.getArrayRef())), 0);
  return result;
}

void DotOverlap::expand() {
  scf::ForOp made = expandLoop(loop, schedule(), rewriter, LoopEnd::Peeled);
  // The fence before the first dot also follows the wait for the second dot's buffer.
  bool isFirst = true;
  for (auto fence : llvm::make_early_inc_range(made.getBody()->getOps<ttng::FenceAsyncSharedOp>()))
    if (!std::exchange(isFirst, false))
      rewriter.eraseOp(fence);
  // No second dot runs beside the first iteration's first one.
  for (Operation &op : llvm::make_range(made->getBlock()->begin(), Block::iterator(made)))
    if (auto wait = dyn_cast<ttng::WarpGroupDotWaitOp>(op))
      wait.setPendings(0);
}

void nvidia::overlapDots(scf::ForOp loop, ChainedDots dots, RingAccess first, RingAccess second, bool takesTurns,
                         RewriterBase &rewriter) {
  DotOverlap overlap(loop, dots, rewriter);
  overlap.makeAsync(first, second);
  if (takesTurns)
    overlap.takeTurns();
  overlap.expand();
}
