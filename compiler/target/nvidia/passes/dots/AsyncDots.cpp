// Makes warp-group dots asynchronous across the iterations of a loop.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"

#include "compiler/analysis/RegisterPressure.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// The buffer underlying a view.
static Value unviewed(Value buffer) {
  while (auto *view = buffer.getDefiningOp())
    if (isa<MemDescIndexOp, MemDescTransOp>(view))
      buffer = view->getOperand(0);
    else
      break;
  return buffer;
}

namespace {
struct AsyncDot {
  ttng::WarpGroupDotOp dot;
  unsigned resultIndex; ///< index of its accumulator among the loop's values
  scf::IfOp user;       ///< the one branch that uses the accumulator; may be null
};
} // namespace

/// The branch that uses a dot's accumulator on one side and forwards it on both; null where there are other uses.
static scf::IfOp onlyBranchUser(ttng::WarpGroupDotOp dot, Value forwarded) {
  auto branch = forwarded.getDefiningOp<scf::IfOp>();
  if (!branch || branch->getBlock() != dot->getBlock() || !forwarded.hasOneUse() || !branch.elseBlock())
    return {};
  const unsigned index = cast<OpResult>(forwarded).getResultNumber();
  const bool isForwarded =
      branch.thenYield().getOperand(index) == dot.getD() && branch.elseYield().getOperand(index) == dot.getD();
  const bool isAll = llvm::all_of(dot.getD().getUsers(), [&](Operation *user) {
    return branch.getThenRegion().isAncestor(user->getParentRegion()) || user == branch.elseYield();
  });
  const bool isOnce = llvm::count(branch.elseYield().getOperands(), dot.getD()) == 1;
  return isForwarded && isAll && isOnce ? branch : scf::IfOp();
}

/// The dot, where its accumulator goes straight to that of the next iteration, or past a branch that may use it.
static std::optional<AsyncDot> asyncDotOf(ttng::WarpGroupDotOp dot, scf::ForOp loop) {
  auto accumulator = dyn_cast<BlockArgument>(dot.getC());
  if (!accumulator || accumulator.getOwner() != loop.getBody() || !accumulator.hasOneUse())
    return std::nullopt;
  OpOperand &next = *loop.getTiedLoopYieldedValue(accumulator);
  const unsigned resultIndex = next.getOperandNumber();
  if (next.get() == dot.getD())
    return dot.getD().hasOneUse() ? std::optional(AsyncDot{dot, resultIndex, {}}) : std::nullopt;
  scf::IfOp user = onlyBranchUser(dot, next.get());
  return user ? std::optional(AsyncDot{dot, resultIndex, user}) : std::nullopt;
}

bool nvidia::accumulatesInFullPrecision(ttng::WarpGroupDotOp dot) {
  const MemDescType right = dot.getB().getType();
  return right.getElementType().getIntOrFloatBitWidth() > 8 || isa<IntegerType>(right.getElementType()) ||
         dot.getMaxNumImpreciseAcc() >= right.getShape()[0];
}

unsigned nvidia::registersOfDots(scf::ForOp loop) {
  unsigned registers = 0;
  llvm::SmallDenseSet<Value, 4> operands;
  for (Operation &op : *loop.getBody()) {
    if (auto dot = dyn_cast<ttng::WarpGroupDotOp>(op)) {
      registers += analysis::registersOf(dot.getD().getType());
      if (isa<RankedTensorType>(dot.getA().getType()) && loop.isDefinedOutsideOfLoop(dot.getA()) &&
          operands.insert(dot.getA()).second)
        registers += analysis::registersOf(dot.getA().getType());
    }
    if (isa<tt::LoadOp>(op) && !llvm::all_of(op.getUsers(), llvm::IsaPred<LocalAllocOp>))
      registers += 2 * analysis::registersOf(op.getResult(0).getType());
  }
  return registers;
}

static SmallVector<AsyncDot> findAsyncDots(scf::ForOp loop, ArrayRef<Value> multiBuffers) {
  auto mayBeRead = [&](Value operand) {
    if (!isa<MemDescType>(operand.getType()))
      return loop.isDefinedOutsideOfLoop(operand);
    Value buffer = unviewed(operand);
    return llvm::is_contained(multiBuffers, buffer) || loop.isDefinedOutsideOfLoop(buffer);
  };
  SmallVector<AsyncDot> asyncDots;
  for (auto dot : loop.getBody()->getOps<ttng::WarpGroupDotOp>())
    if (auto asyncDot = asyncDotOf(dot, loop);
        asyncDot && mayBeRead(dot.getA()) && mayBeRead(dot.getB()) && nvidia::accumulatesInFullPrecision(dot))
      asyncDots.push_back(*asyncDot);
  return asyncDots;
}

/// Inserts a wait before a branch's use of the accumulator.
static void waitInBranch(AsyncDot &asyncDot, Value accumulator, RewriterBase &rewriter) {
  Block *block = asyncDot.user.thenBlock();
  rewriter.setInsertionPointToStart(block);
  auto wait = ttng::WarpGroupDotWaitOp::create(rewriter, asyncDot.dot.getLoc(), {accumulator}, 0);
  rewriter.replaceUsesWithIf(accumulator, wait.getResult(0), [&](OpOperand &use) {
    return use.getOwner() != wait && asyncDot.user.getThenRegion().isAncestor(use.getOwner()->getParentRegion());
  });
}

ttng::WarpGroupDotWaitOp nvidia::makeDotsAsync(scf::ForOp loop, ArrayRef<Value> multiBuffers, RewriterBase &rewriter) {
  SmallVector<AsyncDot> asyncDots = findAsyncDots(loop, multiBuffers);
  if (asyncDots.empty())
    return carryDots(loop, multiBuffers, rewriter);
  SmallVector<Value> loopInputs, exitInputs;
  for (AsyncDot &asyncDot : asyncDots) {
    asyncDot.dot->setAttr(asyncDot.dot.getIsAsyncAttrName(), rewriter.getBoolAttr(true));
    loopInputs.push_back(asyncDot.dot.getD());
    exitInputs.push_back(loop.getResult(asyncDot.resultIndex));
  }
  const Location loc = asyncDots.back().dot.getLoc();
  rewriter.setInsertionPointAfter(loop);
  llvm::append_range(exitInputs, multiBuffers);
  ttng::WarpGroupDotWaitOp last = ttng::WarpGroupDotWaitOp::create(rewriter, loc, exitInputs, 0);
  for (AsyncDot &asyncDot : asyncDots)
    for (Value operand : asyncDot.dot->getOperands().take_front(2))
      if (isa<MemDescType>(operand.getType()))
        loopInputs.push_back(operand);
  rewriter.setInsertionPointAfter(asyncDots.back().dot);
  ttng::WarpGroupDotWaitOp wait = ttng::WarpGroupDotWaitOp::create(rewriter, loc, loopInputs, asyncDots.size());
  for (auto [index, asyncDot] : llvm::enumerate(asyncDots)) {
    rewriter.replaceAllUsesExcept(asyncDot.dot.getD(), wait.getResult(index), wait);
    if (asyncDot.user)
      waitInBranch(asyncDot, wait.getResult(index), rewriter);
    rewriter.replaceAllUsesExcept(loop.getResult(asyncDot.resultIndex), last.getResult(index), last);
  }
  return wait;
}

//--- fences --------------------------------------------------------------------------------

/// Whether the fence follows buffers that threads no longer fill.
static bool isIdle(ttng::FenceAsyncSharedOp fence) {
  for (Operation *op = fence->getPrevNode(); isa_and_nonnull<MemDescTransOp, MemDescIndexOp, LocalAllocOp>(op);
       op = op->getPrevNode())
    if (isa<LocalAllocOp>(op))
      return false;
  return true;
}

void nvidia::eraseIdleFences(Block &block, RewriterBase &rewriter) {
  for (auto fence : llvm::make_early_inc_range(block.getOps<ttng::FenceAsyncSharedOp>()))
    if (isIdle(fence))
      rewriter.eraseOp(fence);
}
