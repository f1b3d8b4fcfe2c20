// Emits mbarriers in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/lowering/Diagnostics.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::nvidia;

//--- mbarriers -----------------------------------------------------------------------------

/// Whether threads write global memory in the op itself, or see what others wrote there.
static bool writesOrAcquiresGlobal(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile() || load.getCache() == tt::CacheModifier::CV;
  if (isa<imported::AssumeOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op))
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) && !isa<ttg::SharedMemory>(effect.getResource());
  });
}

/// Whether threads may have written global memory when the op is executed, or seen what others wrote there.
static bool mayFollowWrites(Operation *op) {
  auto function = op->getParentOfType<tt::FuncOp>();
  if (!function.isPublic())
    return true;
  Operation *end = op;
  for (Operation *around = op->getParentOp(); around != function; around = around->getParentOp())
    if (isa<LoopLikeOpInterface>(around))
      end = around; // its iterations precede each other
  bool isFound = false;
  function.walk<WalkOrder::PreOrder>([&](Operation *other) {
    const bool isEnd = other == end;
    if (isEnd && end != op)
      end->walk([&](Operation *inside) { isFound |= writesOrAcquiresGlobal(inside); });
    else if (!isEnd && other != function)
      isFound |= writesOrAcquiresGlobal(other);
    return isEnd || isFound ? WalkResult::interrupt() : WalkResult::advance();
  });
  return isFound;
}

static void emitArrival(TtgFunctionEmitter &emitter, TmaEmitter &tma, llvm::Value *barrier,
                        ttng::ArriveBarrierOp arrive) {
  IrBuilder &ir = emitter.ir;
  llvm::Value *isFirst = arrive.getByWarp() ? emitter.isFirstLane() : emitter.isFirstThread();
  llvm::Value *where = arrive.getPred() ? ir.CreateAnd(isFirst, emitter.scalar(arrive.getPred())) : isFirst;
  if (arrive.getByWarp())
    return tma.arriveByWarp(ir, barrier, where);
  emitter.runWhere(where, [&] { tma.arrive(ir, barrier, arrive.getCount()); });
}

static LogicalResult emitMbarrier(TtgFunctionEmitter &emitter, Operation *op) {
  IrBuilder &ir = emitter.ir;
  NvidiaEmitter &instructions = instructionsOf(emitter);
  const bool needsTma = isa<ttng::BarrierExpectOp>(op);
  TmaEmitter *tma = needsTma ? instructions.tma() : instructions.barriers();
  if (!tma)
    return tt::report(op->getLoc(), nvidia::diag::NeedsTma, op->getName().stripDialect());
  llvm::Value *barrier = emitter.scalar(op->getOperand(0));
  const unsigned count = llvm::product_of(cast<ttg::MemDescType>(op->getOperand(0).getType()).getShape());
  if (auto init = dyn_cast<ttng::InitBarrierOp>(op)) {
    emitter.runWhere(emitter.isFirstThread(), [&] {
      for (unsigned index = 0; index < count; ++index)
        tma->initBarrier(ir, barrier, 8 * index, init.getCount());
    });
    auto next = dyn_cast_or_null<ttng::InitBarrierOp>(op->getNextNode());
    if (instructions.tma() && !init.getOfThreads() && (!next || next.getOfThreads())) // one for all in sequence
      tma->fence(ir, /*ofGlobal=*/mayFollowWrites(op));
  } else if (isa<ttng::InvalBarrierOp>(op)) {
    emitter.runWhere(emitter.isFirstThread(), [&] {
      for (unsigned index = 0; index < count; ++index)
        tma->invalidateBarrier(ir, barrier, 8 * index);
    });
  } else if (auto expect = dyn_cast<ttng::BarrierExpectOp>(op)) {
    emitter.runWhere(ir.CreateAnd(emitter.isFirstThread(), emitter.scalar(expect.getPred())),
                     [&] { tma->expect(ir, barrier, expect.getSize()); });
  } else if (auto arrive = dyn_cast<ttng::ArriveBarrierOp>(op)) {
    emitArrival(emitter, *tma, barrier, arrive);
  } else if (auto arrive = dyn_cast<ttng::AsyncCopyMbarrierArriveOp>(op)) {
    tma->arriveAfterCopies(ir, barrier, arrive.getNoIncrement());
  } else {
    auto wait = cast<ttng::WaitBarrierOp>(op);
    llvm::Value *where = wait.getPred() ? emitter.scalar(wait.getPred()) : nullptr;
    if (auto *constant = dyn_cast_or_null<llvm::ConstantInt>(where); constant && constant->isOne())
      where = nullptr;
    emitter.runWhere(where, [&] {
      tma->waitForBarrier(ir, barrier, emitter.scalar(wait.getPhase()), wait.getByWarp() && !where,
                          instructions.suspendsAtBarriers());
    });
  }
  return success();
}

/// The arrival waits for copies alone: a vector too small for one is written by the thread, and not counted.
static LogicalResult emitArrivalOfCopies(TtgFunctionEmitter &emitter, ttng::AsyncCopyMbarrierArriveOp op) {
  for (auto copy : op->getBlock()->getOps<ttg::AsyncCopyGlobalToLocalOp>()) {
    const unsigned bytes =
        copyPatternOf(copy, emitter.module.axes).vectorElems * elementBytesOf(copy.getDst().getType());
    if (!analysis::isCpAsyncSize(bytes))
      return copy.emitOpError() << "copies " << bytes << " bytes at a time, which no arrival at a barrier waits for";
  }
  return emitMbarrier(emitter, op);
}

void nvidia::addBarrierEmitters(OpEmitters &table) {
  table.add<emitMbarrier, ttng::InitBarrierOp, ttng::InvalBarrierOp, ttng::BarrierExpectOp, ttng::WaitBarrierOp,
            ttng::ArriveBarrierOp>();
  table.add<emitArrivalOfCopies, ttng::AsyncCopyMbarrierArriveOp>();
}
