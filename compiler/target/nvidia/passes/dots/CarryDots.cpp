// Lets the dots that end an iteration run beside those that begin the next one.
//
//   for { %s = dot; f(%s); %acc = dot(f, %acc) }
//     ->  for { %s = async dot; wait until 1 is pending: %acc; copies; wait until 0 are pending: %s; f(%s);
//               %acc = async dot(f, %acc) }
//         wait until 0 are pending: %acc
//
// The copies fill buffers that the dots of the iteration before have read. See docs/why/warp-groups.md.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

/// The warps of one warp group. More groups meet at the second barrier of an iteration, which the wait for carried dots
/// needs, and lose by it what the dots gain.
static constexpr unsigned kMostWarps = 4;

namespace {
class DotCarrier {
public:
  DotCarrier(scf::ForOp loop, ArrayRef<Value> multiBuffers, RewriterBase &rewriter)
      : loop(loop), multiBuffers(multiBuffers), rewriter(rewriter) {}

  bool collect();
  ttng::WarpGroupDotWaitOp run();

private:
  using OpSet = llvm::SmallSetVector<Operation *, 16>;

  bool mayCarry(ttng::WarpGroupDotOp dot);
  OpSet neededBy(Operation *op);
  bool fitsRegisters();
  void startTogether();
  void waitForOthers();
  ttng::WarpGroupDotWaitOp waitForCarried();
  void waitAfterLoop();

  scf::ForOp loop;
  ArrayRef<Value> multiBuffers;
  RewriterBase &rewriter;
  SmallVector<ttng::WarpGroupDotOp> dots;
  llvm::SmallSetVector<ttng::WarpGroupDotOp, 4> leading; ///< dots that need no other dot
  llvm::SmallSetVector<ttng::WarpGroupDotOp, 4> carried; ///< dots that only the next iteration needs
};
} // namespace

/// Whether the operand is in registers or in a buffer that the loop does not fill while the dot reads it.
static bool staysInPlace(Value operand, scf::ForOp loop, ArrayRef<Value> multiBuffers) {
  if (!isa<MemDescType>(operand.getType()))
    return true;
  LocalAllocOp allocation = allocationOf(operand);
  return allocation && (llvm::is_contained(multiBuffers, Value(allocation)) || loop.isDefinedOutsideOfLoop(allocation));
}

/// Whether the next iteration's dot alone takes the result, as its accumulator.
bool DotCarrier::mayCarry(ttng::WarpGroupDotOp dot) {
  auto accumulator = dyn_cast<BlockArgument>(dot.getC());
  return accumulator && accumulator.getOwner() == loop.getBody() && accumulator.hasOneUse() && dot.getD().hasOneUse() &&
         loop.getTiedLoopYieldedValue(accumulator)->get() == dot.getD() &&
         staysInPlace(dot.getA(), loop, multiBuffers) && staysInPlace(dot.getB(), loop, multiBuffers);
}

/// The ops of the loop's body that `op` depends on.
DotCarrier::OpSet DotCarrier::neededBy(Operation *op) {
  OpSet needed;
  SmallVector<Operation *> todo = {op};
  while (!todo.empty())
    todo.pop_back_val()->walk([&](Operation *inside) {
      for (Value operand : inside->getOperands())
        if (Operation *source = operand.getDefiningOp(); source && source->getBlock() == loop.getBody())
          if (needed.insert(source))
            todo.push_back(source);
    });
  return needed;
}

/// Operands of carried dots take registers while the next iteration's dots run.
bool DotCarrier::fitsRegisters() {
  unsigned registers = registersOfDots(loop);
  for (ttng::WarpGroupDotOp dot : carried)
    if (isa<RankedTensorType>(dot.getA().getType()) && !loop.isDefinedOutsideOfLoop(dot.getA()))
      registers += analysis::registersOf(dot.getA().getType());
  return registers <= kMostRegistersOfDots;
}

bool DotCarrier::collect() {
  if (numWarpsOf(loop) > kMostWarps)
    return false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto dot = dyn_cast<ttng::WarpGroupDotOp>(op)) {
      if (!accumulatesInFullPrecision(dot) || dot.getIsAsync())
        return false;
      dots.push_back(dot);
    }
    // Threads that fill a buffer themselves might overwrite what a dot in flight reads.
    if (isa<LocalAllocOp, LocalStoreOp, ttng::FenceAsyncSharedOp>(op) || op.getNumRegions() > 0)
      return false;
  }
  for (ttng::WarpGroupDotOp dot : dots) {
    const OpSet needed = neededBy(dot);
    if (!llvm::any_of(needed, llvm::IsaPred<ttng::WarpGroupDotOp>)) {
      if (!llvm::all_of(needed, isMemoryEffectFree))
        return false;
      leading.insert(dot);
    } else if (mayCarry(dot)) {
      carried.insert(dot);
    }
  }
  return !leading.empty() && !carried.empty() && fitsRegisters();
}

/// Moves the leading dots to the first of them, with what they need.
void DotCarrier::startTogether() {
  Operation *last = leading.front();
  for (ttng::WarpGroupDotOp dot : llvm::drop_begin(leading)) {
    const OpSet needed = neededBy(dot);
    SmallVector<Operation *> moved;
    for (Operation &op : llvm::make_range(last->getIterator(), dot->getIterator()))
      if (needed.contains(&op))
        moved.push_back(&op);
    moved.push_back(dot);
    for (Operation *op : moved) {
      rewriter.moveOpAfter(op, last);
      last = op;
    }
  }
  llvm::sort(dots, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// Ends each dot that is not carried before its first use, with those before it.
void DotCarrier::waitForOthers() {
  for (auto [index, dot] : llvm::enumerate(dots)) {
    dot.setIsAsync(true);
    if (carried.contains(dot))
      continue;
    Operation *first = loop.getBody()->getTerminator();
    for (Operation *user : dot.getD().getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
    const unsigned started = llvm::count_if(dots, [&](Operation *other) { return other->isBeforeInBlock(first); });
    rewriter.setInsertionPoint(first);
    SmallVector<Value> inputs = {dot.getD()};
    if (isa<MemDescType>(dot.getA().getType()) || dot.getA().getParentBlock() == dot->getBlock())
      inputs.push_back(dot.getA());
    inputs.push_back(dot.getB());
    auto wait = ttng::WarpGroupDotWaitOp::create(rewriter, dot.getLoc(), inputs, started - index - 1);
    rewriter.replaceAllUsesExcept(dot.getD(), wait.getResult(0), wait);
  }
}

/// Ends the dots of the iteration before when the leading dots of this one have started.
ttng::WarpGroupDotWaitOp DotCarrier::waitForCarried() {
  SmallVector<Value> inputs;
  for (ttng::WarpGroupDotOp dot : carried)
    inputs.push_back(dot.getC());
  llvm::append_range(inputs, multiBuffers);
  rewriter.setInsertionPointAfter(dots[leading.size() - 1]);
  auto wait = ttng::WarpGroupDotWaitOp::create(rewriter, loop.getLoc(), inputs, leading.size());
  for (auto [index, dot] : llvm::enumerate(carried))
    rewriter.replaceAllUsesExcept(inputs[index], wait.getResult(index), wait);
  return wait;
}

void DotCarrier::waitAfterLoop() {
  SmallVector<Value> inputs;
  for (ttng::WarpGroupDotOp dot : carried)
    inputs.push_back(loop.getResult(dot.getD().use_begin()->getOperandNumber()));
  llvm::append_range(inputs, multiBuffers);
  for (ttng::WarpGroupDotOp dot : carried)
    for (Value operand : dot->getOperands().take_front(2))
      if (auto allocation = isa<MemDescType>(operand.getType()) ? allocationOf(operand) : LocalAllocOp();
          allocation && !llvm::is_contained(inputs, Value(allocation)))
        inputs.push_back(allocation);
  rewriter.setInsertionPointAfter(loop);
  auto wait = ttng::WarpGroupDotWaitOp::create(rewriter, loop.getLoc(), inputs, 0);
  for (unsigned index = 0; index < carried.size(); ++index)
    rewriter.replaceAllUsesExcept(inputs[index], wait.getResult(index), wait);
}

ttng::WarpGroupDotWaitOp DotCarrier::run() {
  startTogether();
  waitAfterLoop();
  waitForOthers();
  return waitForCarried();
}

ttng::WarpGroupDotWaitOp nvidia::carryDots(scf::ForOp loop, ArrayRef<Value> multiBuffers, RewriterBase &rewriter) {
  DotCarrier carrier(loop, multiBuffers, rewriter);
  return carrier.collect() ? carrier.run() : ttng::WarpGroupDotWaitOp();
}
