// Emits gathers and histograms: exchanges between registers, lanes or warps, and shared memory accessed at any index.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttg/GatherPlan.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

//--- exchanges -----------------------------------------------------------------------------

static Tile exchangeWarps(TtgFunctionEmitter &emitter, tt::GatherOp op, const layout::SharedPlan &plan) {
  const Tile registers = emitter.tile(op.getSrc());
  llvm::Value *buffer = emitter.sharedScratch(op);
  Tile loaded(registers.size(), nullptr), result;
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    if (repetition > 0)
      emitter.barrier();
    emitter.storeShared(buffer, plan.store, repetition, registers);
    emitter.barrier();
    emitter.loadShared(buffer, plan.load, repetition, tt::elementOf(op.getType()), loaded);
  }
  for (uint32_t index : plan.loadedAs)
    result.push_back(loaded[index]);
  return result;
}

static Tile exchange(TtgFunctionEmitter &emitter, tt::GatherOp op, const layout::ExchangePlan &plan) {
  const Tile source = plan.crossesWarps() ? exchangeWarps(emitter, op, plan.shared) : emitter.tile(op.getSrc());
  const bool movesLanes = plan.laneXor != 0 && !plan.crossesWarps();
  Tile result;
  for (unsigned index = 0; index < source.size(); ++index) {
    llvm::Value *value = source[index ^ plan.registerXor];
    if (movesLanes)
      value = emitter.wordwise(
          value, [&](llvm::Value *word) { return emitter.target.shuffleXor(emitter.ir, word, plan.laneXor); });
    result.push_back(value);
  }
  return result;
}

//--- any index -----------------------------------------------------------------------------

/// Bases of the offsets of a thread's elements in a row-major buffer, without the axis.
static SmallVector<uint32_t> withoutAxis(const LinearLayout &layout, StringRef input, ArrayRef<int64_t> strides,
                                         unsigned axis) {
  SmallVector<uint32_t> bases;
  for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
    uint32_t basis = 0;
    for (auto [dim, coordinate] : llvm::enumerate(layout.basis(input, bit)))
      basis += dim == axis ? 0 : coordinate * strides[dim];
    bases.push_back(basis);
  }
  return bases;
}

static Tile readGathered(TtgFunctionEmitter &emitter, tt::GatherOp op, llvm::Value *buffer) {
  IrBuilder &ir = emitter.ir;
  const ArrayRef<int64_t> shape = tt::shapeOf(op.getSrc().getType());
  const unsigned axis = op.getAxis();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned dim = shape.size() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shape[dim];
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(op.getType()));
  llvm::Value *thread = emitter.threadBits(withoutAxis(layout, layout::kLane, strides, axis),
                                           withoutAxis(layout, layout::kWarp, strides, axis));
  const SmallVector<uint32_t> registers = withoutAxis(layout, layout::kRegister, strides, axis);
  const Type element = tt::elementOf(op.getType());
  llvm::Type *type = emitter.elements.memoryType(element);
  const uint32_t copies = copyMask(op.getType());
  Tile result;
  for (auto [index, gatherIndex] : llvm::enumerate(emitter.tile(op.getIndices()))) {
    if (index & copies) {
      result.push_back(result[index & ~copies]);
      continue;
    }
    uint32_t own = 0;
    for (auto [bit, basis] : llvm::enumerate(registers))
      own ^= index >> bit & 1 ? basis : 0;
    llvm::Value *along = ir.CreateAnd(ir.CreateSExtOrTrunc(gatherIndex, ir.getInt32Ty()), ir.getInt32(shape[axis] - 1));
    llvm::Value *offset = ir.CreateAdd(ir.CreateMul(along, ir.getInt32(strides[axis])),
                                       ir.CreateXor(thread, ir.getInt32(own)), "", true, true);
    llvm::Value *pointer = ir.CreateGEP(type, buffer, offset);
    result.push_back(emitter.elements.fromMemory(
        ir.CreateAlignedLoad(type, pointer, llvm::Align(analysis::memoryBits(element) / 8)), element));
  }
  return result;
}

static LogicalResult emitGather(TtgFunctionEmitter &emitter, tt::GatherOp op) {
  if (auto plan = ttg::planExchange(op)) {
    emitter.define(op, exchange(emitter, op, *plan));
    return success();
  }
  llvm::Value *buffer = emitter.sharedScratch(op);
  const LinearLayout &source = ttg::linearLayoutOf(cast<RankedTensorType>(op.getSrc().getType()));
  const unsigned bits = analysis::memoryBits(tt::elementOf(op.getType()));
  emitter.storeShared(buffer, layout::rowMajorStores(source, bits), 0, emitter.tile(op.getSrc()));
  emitter.barrier();
  emitter.define(op, readGathered(emitter, op, buffer));
  return success();
}

//--- histogram: counters in shared memory that the CTA's threads add to --------------------

static void clearCounters(TtgFunctionEmitter &emitter, llvm::Value *counters, unsigned count) {
  IrBuilder &ir = emitter.ir;
  for (unsigned first = 0; first < count; first += emitter.module.numThreads) {
    llvm::Value *index = ir.CreateAdd(emitter.thread(), ir.getInt32(first));
    llvm::Value *exists =
        first + emitter.module.numThreads > count ? ir.CreateICmpULT(index, ir.getInt32(count)) : nullptr;
    emitter.target.storeShared(ir, {ir.getInt32(0)}, ir.CreateGEP(ir.getInt32Ty(), counters, index), 0, exists);
  }
}

/// Masked elements and elements out of range add 0 to some counter.
static void countElements(TtgFunctionEmitter &emitter, tt::HistogramOp op, llvm::Value *counters, unsigned count) {
  IrBuilder &ir = emitter.ir;
  llvm::Value *isOwner = emitter.ownerOf(op.getSrc().getType());
  const uint32_t copies = copyMask(op.getSrc().getType());
  for (auto [index, value] : llvm::enumerate(emitter.tile(op.getSrc()))) {
    if (index & copies)
      continue;
    llvm::Value *wide = ir.CreateSExt(value, ir.getInt64Ty());
    llvm::Value *counts = ir.CreateICmpULT(wide, ir.getInt64(count));
    if (op.getMask())
      counts = ir.CreateAnd(counts, emitter.tile(op.getMask())[index]);
    if (isOwner)
      counts = ir.CreateAnd(counts, isOwner);
    llvm::Value *bin = ir.CreateAnd(ir.CreateTrunc(wide, ir.getInt32Ty()), ir.getInt32(count - 1));
    ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, ir.CreateGEP(ir.getInt32Ty(), counters, bin),
                       ir.CreateZExt(counts, ir.getInt32Ty()), llvm::Align(4), llvm::AtomicOrdering::Monotonic);
  }
}

static LogicalResult emitHistogram(TtgFunctionEmitter &emitter, tt::HistogramOp op) {
  const unsigned count = tt::shapeOf(op.getType()).front();
  llvm::Value *counters = emitter.sharedScratch(op);
  clearCounters(emitter, counters, count);
  emitter.barrier();
  countElements(emitter, op, counters, count);
  emitter.barrier();
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(op.getType()));
  Tile result(numRegisters(op.getType()), nullptr);
  emitter.loadShared(counters, layout::rowMajorStores(layout, 32), 0, tt::elementOf(op.getType()), result);
  const uint32_t copies = copyMask(op.getType());
  for (unsigned index = 0; index < result.size(); ++index)
    result[index] = result[index & ~copies];
  emitter.define(op, std::move(result));
  return success();
}

void lowering::addGatherEmitters(OpEmitters &table) {
  table.add<emitGather, tt::GatherOp>();
  table.add<emitHistogram, tt::HistogramOp>();
}
