// Emits gathers, scatters and histograms: exchanges between registers, lanes or warps, and shared memory accessed at
// any index.
// SPDX-License-Identifier: MIT
#include "artifact/ElementType.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttg/GatherPlan.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

//--- exchanges -----------------------------------------------------------------------------

static Tile exchange(TtgFunctionEmitter &emitter, tt::GatherOp op, const layout::ExchangePlan &plan) {
  const Tile source = plan.crossesWarps() ? passThroughShared(emitter, op, plan.shared, emitter.tile(op.getSrc()))
                                          : emitter.tile(op.getSrc());
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
        ir.CreateAlignedLoad(type, pointer, llvm::Align(tt::storageBytes(element))), element));
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

//--- sums by index: in shared memory, to which the CTA's threads add ------------------------

/// Clears `bytes` of sums, a multiple of 4.
static void clearSums(TtgFunctionEmitter &emitter, llvm::Value *sums, unsigned bytes) {
  IrBuilder &ir = emitter.ir;
  const unsigned count = bytes / 4;
  for (unsigned first = 0; first < count; first += emitter.numThreads) {
    llvm::Value *index = ir.CreateAdd(emitter.thread(), ir.getInt32(first));
    llvm::Value *exists = first + emitter.numThreads > count ? ir.CreateICmpULT(index, ir.getInt32(count)) : nullptr;
    emitter.target.storeShared(ir, {ir.getInt32(0)}, ir.CreateGEP(ir.getInt32Ty(), sums, index), 0, exists);
  }
}

namespace {
/// The values that are added, and to which of `count` sums.
struct Addends {
  Value indices, mask, values; ///< no mask: all; no values: ones (i32)
  unsigned count;
};
} // namespace

/// Masked elements and elements out of range add 0 to some sum.
static void addByIndex(TtgFunctionEmitter &emitter, const Addends &addends, llvm::Value *sums) {
  IrBuilder &ir = emitter.ir;
  llvm::Value *isOwner = emitter.ownerOf(addends.indices.getType());
  const uint32_t copies = copyMask(addends.indices.getType());
  for (auto [index, value] : llvm::enumerate(emitter.tile(addends.indices))) {
    if (index & copies)
      continue;
    llvm::Value *wide = ir.CreateSExt(value, ir.getInt64Ty());
    llvm::Value *counts = ir.CreateICmpULT(wide, ir.getInt64(addends.count));
    if (addends.mask)
      counts = ir.CreateAnd(counts, emitter.tile(addends.mask)[index]);
    if (isOwner)
      counts = ir.CreateAnd(counts, isOwner);
    llvm::Value *to = ir.CreateAnd(ir.CreateTrunc(wide, ir.getInt32Ty()), ir.getInt32(addends.count - 1));
    llvm::Value *added = ir.CreateZExt(counts, ir.getInt32Ty());
    if (addends.values) {
      llvm::Value *element = emitter.tile(addends.values)[index];
      added = ir.CreateSelect(counts, element, llvm::Constant::getNullValue(element->getType()));
    }
    llvm::Type *type = added->getType();
    ir.CreateAtomicRMW(
        type->isFloatingPointTy() ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add, ir.CreateGEP(type, sums, to),
        added, llvm::Align(artifact::bytesOfBits(type->getPrimitiveSizeInBits())), llvm::AtomicOrdering::Monotonic);
  }
}

static LogicalResult emitSums(TtgFunctionEmitter &emitter, Operation *op, Addends addends) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  const unsigned bits = analysis::memoryBits(type.getElementType());
  addends.count = type.getNumElements();
  llvm::Value *sums = emitter.sharedScratch(op);
  clearSums(emitter, sums, tt::tileBytes(type));
  emitter.barrier();
  addByIndex(emitter, addends, sums);
  emitter.barrier();
  Tile result(numRegisters(type), nullptr);
  emitter.loadShared(sums, layout::rowMajorStores(ttg::linearLayoutOf(type), bits), 0, type.getElementType(), result);
  const uint32_t copies = copyMask(type);
  for (unsigned index = 0; index < result.size(); ++index)
    result[index] = result[index & ~copies];
  emitter.define(op->getResult(0), std::move(result));
  return success();
}

static LogicalResult emitHistogram(TtgFunctionEmitter &emitter, tt::HistogramOp op) {
  return emitSums(emitter, op, {.indices = op.getSrc(), .mask = op.getMask(), .values = {}, .count = 0});
}

static LogicalResult emitScatterAdd(TtgFunctionEmitter &emitter, tt::ScatterAddOp op) {
  return emitSums(emitter, op, {.indices = op.getIndices(), .mask = op.getMask(), .values = op.getSrc(), .count = 0});
}

void lowering::addGatherEmitters(OpEmitters &table) {
  table.add<emitGather, tt::GatherOp>();
  table.add<emitHistogram, tt::HistogramOp>();
  table.add<emitScatterAdd, tt::ScatterAddOp>();
}
