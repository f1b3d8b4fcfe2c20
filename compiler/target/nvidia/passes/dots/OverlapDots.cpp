// Finds loops of two chained dots, makes the dots asynchronous and orders the ops of two iterations around them.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/dots/OverlapDots.h"

#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/passes/ttg/RotateLoop.h"
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

using OpSet = llvm::SmallSetVector<Operation *, 16>;

/// The ops of the loop's body that depend on a value it carries.
static OpSet dependentOn(BlockArgument carried) {
  OpSet dependent;
  Block *body = carried.getOwner();
  SmallVector<Value> todo = {carried};
  while (!todo.empty())
    for (Operation *user : todo.pop_back_val().getUsers()) {
      Operation *op = body->findAncestorOpInBlock(*user);
      if (op && !op->hasTrait<OpTrait::IsTerminator>() && dependent.insert(op))
        llvm::append_range(todo, op->getResults());
    }
  return dependent;
}

/// The ops of the loop's body that these depend on, in this iteration or one before, and these.
static OpSet neededBy(ArrayRef<Operation *> ops, scf::ForOp loop) {
  OpSet needed;
  SmallVector<Operation *> todo(ops);
  auto need = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar())
      value = loop.getTiedLoopYieldedValue(argument)->get();
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == loop.getBody())
      todo.push_back(op);
  };
  while (!todo.empty())
    if (Operation *op = todo.pop_back_val(); needed.insert(op))
      op->walk([&](Operation *inside) { llvm::for_each(inside->getOperands(), need); });
  return needed;
}

//--- loops of chained dots -----------------------------------------------------------------

/// Whether every value that the loop carries comes from an op of its body, or does not change.
static bool carriesOwnValues(scf::ForOp loop) {
  return llvm::all_of(llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()), [&](auto pair) {
    auto [argument, next] = pair;
    return next == argument || (next.getDefiningOp() && next.getDefiningOp()->getBlock() == loop.getBody());
  });
}

/// Whether the op may run beside those of another iteration, and makes no warp group wait for the other.
static bool mayOverlap(Operation &op, ArrayRef<Operation *> loads) {
  if (llvm::is_contained(loads, &op)) // other warps run these
    return true;
  const WalkResult barriers = op.walk([](Operation *inside) {
    return analysis::barriersWithin(inside) > 0 ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (barriers.wasInterrupted())
    return false;
  if (auto allocation = dyn_cast<LocalAllocOp>(op))
    return allocation.getSrc() && llvm::is_contained(loads, allocation.getSrc().getDefiningOp());
  return isMemoryEffectFree(&op) || isa<ttng::WarpGroupDotOp, ttng::FenceAsyncSharedOp>(op);
}

/// The value that the loop carries for the second dot, whose result it only yields.
static BlockArgument accumulatorOf(ChainedDots dots, scf::ForOp loop) {
  return loop.getRegionIterArg(dots.second.getD().use_begin()->getOperandNumber());
}

/// Whether an iteration's dot needs a result of the iteration before.
static bool dependsOnItself(ttng::WarpGroupDotOp dot, scf::ForOp loop) {
  return llvm::any_of(neededBy({dot}, loop), [&](Operation *op) {
    return op != dot && llvm::any_of(op->getOperands(), [&](Value operand) { return operand == dot.getD(); });
  });
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
  const ChainedDots chain = {dots[0], dots[1]};
  const OpSet late = dependentOn(accumulatorOf(chain, loop));
  if (late.contains(dots[0]) || !late.contains(dots[1]) || dependsOnItself(dots[0], loop))
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
  return chain;
}

//--- the schedule --------------------------------------------------------------------------

namespace {
class DotOverlap {
public:
  DotOverlap(scf::ForOp loop, ChainedDots dots, BufferAccess first, BufferAccess second, RewriterBase &rewriter)
      : loop(loop), dots(dots), first(first), second(second), rewriter(rewriter) {}

  void makeAsync();
  void rotate();

private:
  ttng::WarpGroupDotWaitOp createWait(Value dot, Value buffers, unsigned pendings) {
    const Value inputs[] = {dot, buffers};
    return ttng::WarpGroupDotWaitOp::create(rewriter, dot.getLoc(), inputs, pendings);
  }
  OpSet narrowingOps();
  void addInOrder(Operation *op, const OpSet &ahead, LoopSchedule &schedule);
  LoopSchedule schedule(size_t &exit);

  scf::ForOp loop;
  ChainedDots dots;
  BufferAccess first, second;
  RewriterBase &rewriter;
  ttng::WarpGroupDotWaitOp firstWait, secondWait; ///< the second is for the iteration before
  OpSet placed;
};
} // namespace

/// Ends the first dot in its iteration and the second one in the next. Buffers go back then.
void DotOverlap::makeAsync() {
  dots.first.setIsAsync(true);
  dots.second.setIsAsync(true);
  rewriter.setInsertionPointAfter(dots.first);
  firstWait = createWait(dots.first.getD(), first.buffers, /*pendings=*/1);
  rewriter.replaceAllUsesExcept(dots.first.getD(), firstWait.getResult(0), firstWait);
  const BlockArgument accumulator = accumulatorOf(dots, loop);
  rewriter.setInsertionPointToStart(loop.getBody());
  secondWait = createWait(accumulator, second.buffers, /*pendings=*/0);
  rewriter.replaceAllUsesExcept(accumulator, secondWait.getResult(0), secondWait);
}

/// The ops that write the second dot's operand, from the last value with more registers on, or else the last one: they
/// run when the dot before, which reads the same registers, has ended.
OpSet DotOverlap::narrowingOps() {
  OpSet narrowing, last;
  if (Operation *op = dots.second.getA().getDefiningOp();
      op && op->hasOneUse() && op->getBlock() == loop.getBody() && isPure(op))
    last.insert(op);
  for (Value operand = dots.second.getA(); operand.hasOneUse();) {
    Operation *op = operand.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || op->getNumOperands() != 1 || !isPure(op))
      break;
    narrowing.insert(op);
    operand = op->getOperand(0);
    if (analysis::registersOf(operand.getType()) > analysis::registersOf(op->getResult(0).getType()))
      return narrowing;
  }
  return last;
}

/// Adds an op to the second stage, after the ops that it depends on.
void DotOverlap::addInOrder(Operation *op, const OpSet &ahead, LoopSchedule &schedule) {
  if (!op || op->getBlock() != loop.getBody() || ahead.contains(op) || !placed.insert(op))
    return;
  op->walk([&](Operation *inside) {
    for (Value operand : inside->getOperands())
      addInOrder(operand.getDefiningOp(), ahead, schedule);
  });
  schedule.entries.push_back({op, 1});
}

/// An iteration ends its first dot, computes, ends the second dot of the iteration before, then starts the first dot of
/// the next iteration and its own second one. The wait for the second dot's buffer stands before the end of the dot
/// before: ptxas, which may move the end of a dot within a basic block, does not move it over a loop that waits.
LoopSchedule DotOverlap::schedule(size_t &exit) {
  const OpSet ahead = neededBy({dots.first, first.wait}, loop);
  const OpSet late = dependentOn(accumulatorOf(dots, loop)), last = narrowingOps();
  const Operation *placedBelow[] = {second.wait, second.release};
  auto isView = [](Operation &op) { return op.getNumResults() == 1 && isa<MemDescType>(op.getResult(0).getType()); };
  LoopSchedule result;
  result.lastStage = 1;
  auto add = [&](Operation *op) { addInOrder(op, ahead, result); };
  add(firstWait);
  add(first.release);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!late.contains(&op) && !last.contains(&op) && !isView(op) && !llvm::is_contained(placedBelow, &op))
      add(&op);
  add(second.wait);
  add(secondWait);
  add(second.release);
  for (Operation *op : llvm::reverse(last.getArrayRef()))
    add(op);
  exit = result.entries.size();
  for (Operation &op : loop.getBody()->without_terminator())
    if (ahead.contains(&op))
      result.entries.push_back({&op, 0});
  add(dots.second);
  for (Operation &op : loop.getBody()->without_terminator())
    add(&op);
  return result;
}

void DotOverlap::rotate() {
  size_t exit = 0;
  const LoopSchedule entries = schedule(exit);
  const RotatedLoop rotated = rotateLoop(loop, entries, exit, rewriter, [&](IRMapping &values) {
    auto wait = createWait(values.lookup(dots.second.getD()), second.buffers, /*pendings=*/0);
    values.map(dots.second.getD(), wait.getResult(0));
  });
  scf::WhileOp rotatedLoop = rotated.loop;
  // The loop's first wait lets a dot run that follows the one it is for: the first iteration has no such dot.
  rewriter.setInsertionPoint(rotatedLoop);
  for (OpOperand &init : rotatedLoop.getInitsMutable())
    if (auto dot = init.get().getDefiningOp<ttng::WarpGroupDotOp>(); dot && dot->getBlock() == rotatedLoop->getBlock())
      init.set(createWait(dot.getD(), first.buffers, /*pendings=*/0).getResult(0));
}

void nvidia::overlapDots(scf::ForOp loop, ChainedDots dots, BufferAccess first, BufferAccess second,
                         RewriterBase &rewriter) {
  DotOverlap overlap(loop, dots, first, second, rewriter);
  overlap.makeAsync();
  overlap.rotate();
}
