// Emits histograms as counters in shared memory that the CTA's threads add to.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/layout/Gather.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

void TtgFunctionEmitter::clearCounters(llvm::Value *counters, unsigned count) {
  for (unsigned first = 0; first < count; first += module.numThreads) {
    llvm::Value *index = ir.CreateAdd(thread(), ir.getInt32(first));
    llvm::Value *exists = first + module.numThreads > count ? ir.CreateICmpULT(index, ir.getInt32(count)) : nullptr;
    target.storeShared(ir, {ir.getInt32(0)}, ir.CreateGEP(ir.getInt32Ty(), counters, index), 0, exists);
  }
}

/// Masked elements and elements out of range add 0 to some counter.
void TtgFunctionEmitter::countElements(tt::HistogramOp op, llvm::Value *counters, unsigned count) {
  llvm::Value *isOwner = ownerOf(op.getSrc().getType());
  const uint32_t copies = copyMask(op.getSrc().getType());
  for (auto [index, value] : llvm::enumerate(tile(op.getSrc()))) {
    if (index & copies)
      continue;
    llvm::Value *wide = ir.CreateSExt(value, ir.getInt64Ty());
    llvm::Value *counts = ir.CreateICmpULT(wide, ir.getInt64(count));
    if (op.getMask())
      counts = ir.CreateAnd(counts, tile(op.getMask())[index]);
    if (isOwner)
      counts = ir.CreateAnd(counts, isOwner);
    llvm::Value *bin = ir.CreateAnd(ir.CreateTrunc(wide, ir.getInt32Ty()), ir.getInt32(count - 1));
    ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, ir.CreateGEP(ir.getInt32Ty(), counters, bin),
                       ir.CreateZExt(counts, ir.getInt32Ty()), llvm::Align(4), llvm::AtomicOrdering::Monotonic);
  }
}

LogicalResult TtgFunctionEmitter::emitHistogram(tt::HistogramOp op) {
  const unsigned count = tt::shapeOf(op.getType()).front();
  llvm::Value *counters = sharedPointer(module.shared.offsetOf.lookup(op));
  clearCounters(counters, count);
  barrier();
  countElements(op, counters, count);
  barrier();
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(op.getType()));
  Tile result(numRegisters(op.getType()), nullptr);
  loadShared(counters, layout::rowMajorStores(layout, 32), 0, tt::elementOf(op.getType()), result);
  const uint32_t copies = copyMask(op.getType());
  for (unsigned index = 0; index < result.size(); ++index)
    result[index] = result[index & ~copies];
  define(op, std::move(result));
  return success();
}
