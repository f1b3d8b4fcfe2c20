// Hands the partitions of `warp_specialize` ops to warps that wait for them from a kernel's start.
//
// The default warps write the number of the op and the values that its partitions use to shared memory; a barrier of
// all warps starts the partitions, a second one ends them. See docs/why/gluon-nvidia.md.
//
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/WarpDispatch.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static constexpr unsigned kSlotBytes = 8, kWarpsPerGroup = 4;
/// The barrier of the default warps; those of partitions follow. 0 is the CTA's.
static constexpr unsigned kDefaultBarrier = 1;

bool lowering::dispatchesWarps(tt::FuncOp function) {
  auto isDispatched = [](ttg::WarpSpecializeOp op) {
    return op.isDispatched() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return function.walk(isDispatched).wasInterrupted();
}

static void syncAll(TargetEmitter &target, IrBuilder &ir) { target.barrier(ir, BarrierScope()); }

/// The index of the thread's warp in the CTA, in a form that LLVM sees as uniform over lanes.
static llvm::Value *warpOf(TtgFunctionEmitter &emitter, IrBuilder &ir) {
  llvm::Value *thread = emitter.target.threadId(ir, emitter.module.numThreads);
  llvm::Value *warp = ir.CreateUDiv(thread, ir.getInt32(emitter.target.threadsPerWarp()));
  return emitter.target.shuffleIndex(ir, warp, ir.getInt32(0));
}

void lowering::beginDispatch(TtgFunctionEmitter &emitter, IrBuilder &entry) {
  emitter.dispatch.emplace();
  emitter.dispatch->workers = emitter.newBlock("workers");
  llvm::BasicBlock *first = emitter.newBlock("default.warps");
  const unsigned numWarps = ttg::numWarpsOf(emitter.source);
  llvm::Value *isDefault = entry.CreateICmpULT(warpOf(emitter, entry), entry.getInt32(numWarps));
  entry.CreateCondBr(isDefault, first, emitter.dispatch->workers);
  entry.SetInsertPoint(first);
  emitter.useWarps(numWarps, kDefaultBarrier);
}

//--- values --------------------------------------------------------------------------------

static bool isKnownToAll(llvm::Value *value) { return isa<llvm::Constant, llvm::Argument>(value); }

/// Slot 0 of the first op is the number of the op to run.
static llvm::Value *slot(TtgFunctionEmitter &emitter, IrBuilder &ir, ttg::WarpSpecializeOp op, unsigned index) {
  return ir.CreatePtrAdd(emitter.sharedScratch(op), ir.getInt64(kSlotBytes * index));
}

static llvm::Value *toWord(IrBuilder &ir, llvm::Value *value) {
  if (value->getType()->isPointerTy())
    return ir.CreatePtrToInt(value, ir.getInt64Ty());
  llvm::Type *bits = ir.getIntNTy(value->getType()->getScalarSizeInBits());
  return ir.CreateZExtOrTrunc(ir.CreateBitCast(value, bits), ir.getInt64Ty());
}

static llvm::Value *fromWord(IrBuilder &ir, llvm::Value *word, llvm::Type *type) {
  if (type->isPointerTy())
    return ir.CreateIntToPtr(word, type);
  return ir.CreateBitCast(ir.CreateZExtOrTrunc(word, ir.getIntNTy(type->getScalarSizeInBits())), type);
}

static void store(TtgFunctionEmitter &emitter, llvm::Value *value, llvm::Value *where) {
  emitter.ir.CreateAlignedStore(value, where, llvm::Align(kSlotBytes), /*isVolatile=*/true);
}

/// Starts the partitions of an op; 0 ends the kernel.
static void signal(TtgFunctionEmitter &emitter, unsigned number, ArrayRef<Value> passed) {
  WarpDispatch &dispatch = *emitter.dispatch;
  emitter.runWhere(emitter.isFirstThread(), [&] {
    store(emitter, emitter.ir.getInt64(number), slot(emitter, emitter.ir, dispatch.ops.front().op, 0));
    for (auto [index, value] : llvm::enumerate(passed))
      store(emitter, toWord(emitter.ir, emitter.scalar(value)),
            slot(emitter, emitter.ir, dispatch.ops[number - 1].op, 1 + index));
  });
  syncAll(emitter.target, emitter.ir);
}

//--- default warps -------------------------------------------------------------------------

/// Whether the partition's tiles can be used by other warps than those that computed them: constants can.
static LogicalResult collectPassed(TtgFunctionEmitter &emitter, DispatchedOp &dispatched) {
  for (Value value : dispatched.op.valuesFromOutside()) {
    const Tile &registers = emitter.tile(value);
    if (llvm::all_of(registers, isKnownToAll))
      continue;
    if (registers.size() != 1 || isa<RankedTensorType>(value.getType()))
      return dispatched.op.emitError() << "a partition uses a tile from outside: " << value.getType()
                                       << "; pass it through shared memory, or compute it in the partition";
    dispatched.passed.push_back(value);
  }
  return success();
}

/// Before and after a region.
static LogicalResult changeRegisters(TtgFunctionEmitter &emitter, IrBuilder &ir, ttg::WarpSpecializeOp op,
                                     unsigned region, bool isBefore) {
  const auto registers = op.getActualRegisters();
  const unsigned outside = op.initialRegisters(), inside = registers ? (*registers)[region] : outside;
  if (emitter.module.options.maxRegisters || inside == outside ||
      emitter.target.setRegisters(ir, isBefore ? inside : outside, isBefore == (inside > outside)))
    return success();
  return tt::report(op.getLoc(), diag::OpUnsupported, "warp_specialize", " with `actualRegisters`");
}

LogicalResult lowering::emitDispatched(TtgFunctionEmitter &emitter, ttg::WarpSpecializeOp op) {
  WarpDispatch &dispatch = *emitter.dispatch;
  DispatchedOp dispatched = {op, {}};
  if (failed(collectPassed(emitter, dispatched)))
    return failure();
  dispatch.ops.push_back(dispatched);
  signal(emitter, dispatch.ops.size(), dispatched.passed);
  Block &body = op.getDefaultRegion().front();
  if (failed(changeRegisters(emitter, emitter.ir, op, 0, /*isBefore=*/true)) || failed(emitter.emitBlock(body)) ||
      failed(changeRegisters(emitter, emitter.ir, op, 0, /*isBefore=*/false)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    emitter.define(result, emitter.tile(value));
  syncAll(emitter.target, emitter.ir);
  return success();
}

void lowering::stopWorkers(TtgFunctionEmitter &emitter) { signal(emitter, 0, {}); }

//--- warps of partitions -------------------------------------------------------------------

namespace {
/// Emits the code of the warps that run no default region.
class WorkerEmitter {
public:
  WorkerEmitter(TtgFunctionEmitter &emitter, llvm::Value *warp)
      : emitter(emitter), ir(emitter.function.getContext()), warp(warp) {}

  /// From `entry` to a branch to `end`.
  LogicalResult run(const DispatchedOp &dispatched, llvm::BasicBlock *entry, llvm::BasicBlock *end);

private:
  LogicalResult changeRegistersOfGroups(bool isBefore);
  LogicalResult emitPartition(unsigned region, llvm::BasicBlock *entry, llvm::BasicBlock *end);
  llvm::Value *isIn(unsigned first, unsigned count) {
    return ir.CreateICmpULT(ir.CreateSub(warp, ir.getInt32(first)), ir.getInt32(count));
  }

  TtgFunctionEmitter &emitter;
  IrBuilder ir;
  llvm::Value *warp;
  const DispatchedOp *current = nullptr;
};
} // namespace

/// The warps of a group have one number of registers, those without a partition, too.
LogicalResult WorkerEmitter::changeRegistersOfGroups(bool isBefore) {
  ttg::WarpSpecializeOp op = current->op;
  if (!op.getActualRegisters())
    return success();
  llvm::DenseSet<unsigned> done;
  for (unsigned region = 1; region < op->getNumRegions(); ++region) {
    const auto [first, count] = op.warpsOf(region);
    const unsigned group = first / kWarpsPerGroup * kWarpsPerGroup;
    if (!done.insert(group).second)
      continue;
    llvm::BasicBlock *inside = emitter.newBlock("registers"), *after = emitter.newBlock("registers.end");
    ir.CreateCondBr(isIn(group, llvm::alignTo(count, kWarpsPerGroup)), inside, after);
    ir.SetInsertPoint(inside);
    if (failed(changeRegisters(emitter, ir, op, region, isBefore)))
      return failure();
    ir.CreateBr(after);
    ir.SetInsertPoint(after);
  }
  return success();
}

LogicalResult WorkerEmitter::emitPartition(unsigned region, llvm::BasicBlock *entry, llvm::BasicBlock *end) {
  ttg::WarpSpecializeOp op = current->op;
  const auto [first, count] = op.warpsOf(region);
  const RegionWarps warps = {.first = first, .count = count, .barrierId = kDefaultBarrier + region};
  return emitter.runRegion(op->getRegion(region).front(), warps, entry, end, [&](TtgFunctionEmitter &inside) {
    for (auto [index, value] : llvm::enumerate(current->passed)) {
      llvm::Value *word = inside.ir.CreateAlignedLoad(inside.ir.getInt64Ty(), slot(inside, inside.ir, op, 1 + index),
                                                      llvm::Align(kSlotBytes), /*isVolatile=*/true);
      inside.define(value, {fromWord(inside.ir, word, emitter.scalar(value)->getType())});
    }
  });
}

LogicalResult WorkerEmitter::run(const DispatchedOp &dispatched, llvm::BasicBlock *entry, llvm::BasicBlock *end) {
  current = &dispatched;
  ttg::WarpSpecializeOp op = dispatched.op;
  emitter.module.debug.setLocation(ir, op.getLoc());
  ir.SetInsertPoint(entry);
  if (failed(changeRegistersOfGroups(/*isBefore=*/true)))
    return failure();
  llvm::BasicBlock *done = emitter.newBlock("partitions.end");
  for (unsigned region = 1; region < op->getNumRegions(); ++region) {
    llvm::BasicBlock *partition = emitter.newBlock("partition"), *next = emitter.newBlock("partition.next");
    const auto [first, count] = op.warpsOf(region);
    ir.CreateCondBr(isIn(first, count), partition, next);
    if (failed(emitPartition(region, partition, done)))
      return failure();
    ir.SetInsertPoint(next);
  }
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  if (failed(changeRegistersOfGroups(/*isBefore=*/false)))
    return failure();
  syncAll(emitter.target, ir);
  ir.CreateBr(end);
  return success();
}

LogicalResult lowering::emitWorkers(TtgFunctionEmitter &emitter) {
  WarpDispatch &dispatch = *emitter.dispatch;
  IrBuilder ir(emitter.function.getContext());
  emitter.module.debug.setLocation(ir, emitter.source.getLoc());
  ir.SetInsertPoint(dispatch.workers);
  llvm::Value *warp = warpOf(emitter, ir);
  llvm::BasicBlock *head = emitter.newBlock("workers.wait"), *end = emitter.newBlock("workers.end");
  ir.CreateBr(head);
  ir.SetInsertPoint(head);
  syncAll(emitter.target, ir);
  llvm::Value *number = ir.CreateAlignedLoad(ir.getInt64Ty(), slot(emitter, ir, dispatch.ops.front().op, 0),
                                             llvm::Align(kSlotBytes), /*isVolatile=*/true);
  number = emitter.target.shuffleIndex(ir, ir.CreateTrunc(number, ir.getInt32Ty()), ir.getInt32(0));
  llvm::SwitchInst *which = ir.CreateSwitch(number, end, dispatch.ops.size());
  for (auto [index, dispatched] : llvm::enumerate(dispatch.ops)) {
    llvm::BasicBlock *entry = emitter.newBlock("partitions");
    which->addCase(ir.getInt32(1 + index), entry);
    if (failed(WorkerEmitter(emitter, warp).run(dispatched, entry, head)))
      return failure();
  }
  ir.SetInsertPoint(end);
  ir.CreateRetVoid();
  return success();
}
