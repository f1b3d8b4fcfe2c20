// Emits `warp_specialize`: a branch on the warp index to the code of each region.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// The barrier of the default region; those of partitions follow. 0 is the CTA's.
static constexpr unsigned kFirstRegionBarrier = 1;

/// The registers that a user's limit leaves are those of all regions.
static RegionWarps warpsOf(TtgFunctionEmitter &emitter, ttg::WarpSpecializeOp op, unsigned region) {
  const auto [first, count] = op.warpsOf(region);
  RegionWarps warps = {.first = first, .count = count, .barrierId = kFirstRegionBarrier + region};
  if (auto registers = op.getActualRegisters(); registers && !emitter.module.options.maxRegisters) {
    warps.registers = (*registers)[region];
    warps.gainsRegisters = warps.registers >= op.initialRegisters();
  }
  return warps;
}

/// The index of the thread's warp, in a form that LLVM sees as uniform over lanes.
static llvm::Value *warpIndex(TtgFunctionEmitter &emitter) {
  SmallVector<uint32_t> bases;
  for (unsigned warps = emitter.numThreads / emitter.target.threadsPerWarp(), bit = 1; bit < warps; bit *= 2)
    bases.push_back(bit);
  return emitter.warpBits(bases);
}

static LogicalResult emitWarpSpecialize(TtgFunctionEmitter &emitter, ttg::WarpSpecializeOp op) {
  if (op.isDispatched() && emitter.dispatch)
    return emitDispatched(emitter, op);
  if (op.isDispatched() || op.getNumResults())
    return op.emitError() << "`warp_specialize` is in a function that is not inlined";
  IrBuilder &ir = emitter.ir;
  emitter.barrier();
  llvm::Value *warp = warpIndex(emitter);
  llvm::BasicBlock *end = emitter.newBlock("regions.end");
  const unsigned last = op.getNumRegions() - 1;
  SmallVector<llvm::BasicBlock *> entries;
  for (unsigned region = 0; region <= last; ++region)
    entries.push_back(emitter.newBlock("region"));
  for (unsigned region = 0; region < last; ++region) {
    const auto [first, count] = op.warpsOf(region);
    llvm::BasicBlock *others = region + 1 == last ? entries[last] : emitter.newBlock("regions");
    ir.CreateCondBr(ir.CreateICmpULT(warp, ir.getInt32(first + count)), entries[region], others);
    ir.SetInsertPoint(others);
  }
  if (last == 0)
    ir.CreateBr(entries.front());
  for (auto [region, entry] : llvm::zip_equal(op->getRegions(), entries))
    if (failed(emitter.runRegion(region.front(), warpsOf(emitter, op, region.getRegionNumber()), entry, end)))
      return failure();
  ir.SetInsertPoint(end);
  return success();
}

static LogicalResult emitIsFirstWarp(TtgFunctionEmitter &emitter, ttg::IsFirstWarpOp op) {
  IrBuilder &ir = emitter.ir;
  emitter.define(op, {ir.CreateICmpULT(emitter.thread(), ir.getInt32(emitter.target.threadsPerWarp()))});
  return success();
}

void lowering::addWarpEmitters(OpEmitters &table) {
  table.add<emitWarpSpecialize, ttg::WarpSpecializeOp>();
  table.add<emitIsFirstWarp, ttg::IsFirstWarpOp>();
}
