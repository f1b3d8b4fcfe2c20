// Lets several dots of a block be in flight, each until its result is used.
//
//   %s = dot; f(%s); %t = dot; g(%t)   ->   %s = async dot; %t = async dot; wait until 1 is pending; f(%s);
//                                           wait until 0 are pending; g(%t)
//
// Works on runs of ops without effects but those of dots: nothing writes to a buffer that a dot in flight reads. Ops
// may have buffers of their own, which share no memory with those that a wait names.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"

#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_DEFERDOTWAITS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// Registers of a thread that results of dots may take together, besides those of addresses and operands.
static constexpr unsigned kMostResultRegisters = 192;

namespace {
/// Ops that follow each other in a block.
class DotRun {
public:
  DotRun(SmallVector<Operation *> ops, RewriterBase &rewriter) : ops(std::move(ops)), rewriter(rewriter) {}

  bool defer();

private:
  using OpSet = llvm::SmallSetVector<Operation *, 16>;

  void collectDots();
  void neededInRun(Operation *op, OpSet &needed) const;
  void startTogether();
  Operation *firstUse(ttng::WarpGroupDotOp dot) const;
  bool overlaps() const;
  void waitBefore(Operation *op, ArrayRef<ttng::WarpGroupDotOp> ended, unsigned pendings);

  SmallVector<Operation *> ops; ///< the last one ends the run and does not belong to it
  RewriterBase &rewriter;
  SmallVector<ttng::WarpGroupDotOp> dots;
};
} // namespace

static bool isInRun(Operation &op) {
  if (auto dot = dyn_cast<ttng::WarpGroupDotOp>(op))
    return accumulatesInFullPrecision(dot);
  return isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>();
}

/// The op of the run's block in which the value is used or defined.
static Operation *inBlockOf(Operation *op, Operation *user) { return op->getBlock()->findAncestorOpInBlock(*user); }

void DotRun::collectDots() {
  dots.clear();
  for (Operation *op : ops)
    if (auto dot = dyn_cast<ttng::WarpGroupDotOp>(op); dot && op != ops.back())
      dots.push_back(dot);
}

/// Adds the ops of the run that `op` depends on.
void DotRun::neededInRun(Operation *op, OpSet &needed) const {
  op->walk([&](Operation *inside) {
    for (Value operand : inside->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && source->getBlock() == op->getBlock() && llvm::is_contained(ops, source) && source != ops.back() &&
          needed.insert(source))
        neededInRun(source, needed);
    }
  });
}

/// Moves dots that need no other dot's result to the first one of these, with what they need.
void DotRun::startTogether() {
  unsigned registers = 0;
  for (ttng::WarpGroupDotOp dot : dots)
    registers += analysis::registersOf(dot.getD().getType());
  if (registers > kMostResultRegisters)
    return;
  Operation *last = nullptr;
  for (ttng::WarpGroupDotOp dot : dots) {
    OpSet needed;
    neededInRun(dot, needed);
    if (llvm::any_of(needed, llvm::IsaPred<ttng::WarpGroupDotOp>))
      continue;
    if (last) {
      for (Operation *op : ops)
        if (needed.contains(op) && last->isBeforeInBlock(op)) {
          rewriter.moveOpAfter(op, last);
          last = op;
        }
      rewriter.moveOpAfter(dot, last);
    }
    last = dot;
  }
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  collectDots();
}

/// The first op of the run that uses the dot's result, or the op that ends the run.
Operation *DotRun::firstUse(ttng::WarpGroupDotOp dot) const {
  Operation *first = ops.back();
  for (Operation *user : dot.getD().getUsers())
    if (Operation *op = inBlockOf(dot, user); op && op->isBeforeInBlock(first))
      first = op;
  return first;
}

/// Whether anything is computed beside a dot.
bool DotRun::overlaps() const {
  return llvm::any_of(dots, [&](ttng::WarpGroupDotOp dot) {
    for (Operation *op = dot->getNextNode(); op != firstUse(dot); op = op->getNextNode())
      if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
        return true;
    return false;
  });
}

void DotRun::waitBefore(Operation *op, ArrayRef<ttng::WarpGroupDotOp> ended, unsigned pendings) {
  SmallVector<Value> inputs;
  for (ttng::WarpGroupDotOp dot : ended)
    inputs.push_back(dot.getD());
  for (ttng::WarpGroupDotOp dot : ended) {
    // Registers that are defined before the block hold the same operand after the dot.
    if (isa<ttg::MemDescType>(dot.getA().getType()) || dot.getA().getParentBlock() == dot->getBlock())
      inputs.push_back(dot.getA());
    inputs.push_back(dot.getB());
  }
  rewriter.setInsertionPoint(op);
  auto wait = ttng::WarpGroupDotWaitOp::create(rewriter, op->getLoc(), inputs, pendings);
  for (auto [index, dot] : llvm::enumerate(ended))
    rewriter.replaceAllUsesExcept(inputs[index], wait.getResult(index), wait);
}

bool DotRun::defer() {
  collectDots();
  if (dots.size() < 2)
    return false;
  startTogether();
  if (!overlaps())
    return false;
  SmallVector<std::pair<Operation *, unsigned>> waits; // the op that a wait precedes, and the dot
  for (auto [index, dot] : llvm::enumerate(dots)) {
    dot.setIsAsync(true);
    waits.push_back({firstUse(dot), index});
  }
  llvm::stable_sort(waits, [](auto &a, auto &b) { return a.first != b.first && a.first->isBeforeInBlock(b.first); });
  // Dots end in order: the wait for one is also the wait for those before it.
  unsigned ended = 0;
  for (auto [op, index] : waits) {
    if (index < ended)
      continue;
    Operation *user = op;
    unsigned last = index;
    for (auto [other, otherIndex] : waits)
      if (other == user)
        last = std::max(last, otherIndex);
    const unsigned started = llvm::count_if(dots, [&](ttng::WarpGroupDotOp dot) { return dot->isBeforeInBlock(user); });
    waitBefore(user, ArrayRef(dots).slice(ended, last + 1 - ended), started - last - 1);
    ended = last + 1;
  }
  return true;
}

/// Whether something else has decided when dots of the block end.
static bool hasAsyncDots(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto dot = dyn_cast<ttng::WarpGroupDotOp>(op);
    return isa<ttng::WarpGroupDotWaitOp>(op) || (dot && dot.getIsAsync());
  });
}

static unsigned deferWaits(Block &block, RewriterBase &rewriter) {
  if (hasAsyncDots(block))
    return 0;
  SmallVector<SmallVector<Operation *>> runs(1);
  for (Operation &op : block) {
    runs.back().push_back(&op);
    if (!isInRun(op))
      runs.emplace_back();
  }
  return llvm::count_if(
      runs, [&](SmallVector<Operation *> &run) { return !run.empty() && DotRun(std::move(run), rewriter).defer(); });
}

namespace {
struct DeferDotWaits : nvidia::impl::DeferDotWaitsBase<DeferDotWaits> {
  void runOnOperation() final {
    IRRewriter rewriter(&getContext());
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      numDeferred += deferWaits(*block, rewriter);
  }
};
} // namespace
