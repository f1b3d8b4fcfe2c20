// Emits gathers: an exchange between registers, lanes or warps, or a shared-memory buffer read at any index.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/GatherPlan.h"
#include "compiler/analysis/MemoryAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

//--- exchanges -----------------------------------------------------------------------------

Tile TtgFunctionEmitter::exchangeWarps(tt::GatherOp op, const layout::SharedPlan &plan) {
  const Tile registers = tile(op.getSrc());
  llvm::Value *buffer = sharedPointer(module.shared.offsetOf.lookup(op));
  Tile loaded(registers.size(), nullptr), result;
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    if (repetition > 0)
      barrier();
    storeShared(buffer, plan.store, repetition, registers);
    barrier();
    loadShared(buffer, plan.load, repetition, tt::elementOf(op.getType()), loaded);
  }
  for (uint32_t index : plan.loadedAs)
    result.push_back(loaded[index]);
  return result;
}

Tile TtgFunctionEmitter::exchange(tt::GatherOp op, const layout::ExchangePlan &plan) {
  const Tile source = plan.crossesWarps() ? exchangeWarps(op, plan.shared) : tile(op.getSrc());
  const bool movesLanes = plan.laneXor != 0 && !plan.crossesWarps();
  Tile result;
  for (unsigned index = 0; index < source.size(); ++index) {
    llvm::Value *value = source[index ^ plan.registerXor];
    if (movesLanes)
      value = wordwise(value, [&](llvm::Value *word) { return target.shuffleXor(ir, word, plan.laneXor); });
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

Tile TtgFunctionEmitter::readGathered(tt::GatherOp op, llvm::Value *buffer) {
  const ArrayRef<int64_t> shape = tt::shapeOf(op.getSrc().getType());
  const unsigned axis = op.getAxis();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned dim = shape.size() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shape[dim];
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(op.getType()));
  llvm::Value *thread =
      threadBits(withoutAxis(layout, layout::kLane, strides, axis), withoutAxis(layout, layout::kWarp, strides, axis));
  const SmallVector<uint32_t> registers = withoutAxis(layout, layout::kRegister, strides, axis);
  const Type element = tt::elementOf(op.getType());
  llvm::Type *type = elements.memoryType(element);
  const uint32_t copies = copyMask(op.getType());
  Tile result;
  for (auto [index, gatherIndex] : llvm::enumerate(tile(op.getIndices()))) {
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
    result.push_back(elements.fromMemory(
        ir.CreateAlignedLoad(type, pointer, llvm::Align(analysis::memoryBits(element) / 8)), element));
  }
  return result;
}

LogicalResult TtgFunctionEmitter::emitGather(tt::GatherOp op) {
  if (auto plan = analysis::planExchange(op)) {
    define(op, exchange(op, *plan));
    return success();
  }
  llvm::Value *buffer = sharedPointer(module.shared.offsetOf.lookup(op));
  const LinearLayout &source = ttg::linearLayoutOf(cast<RankedTensorType>(op.getSrc().getType()));
  const unsigned bits = analysis::memoryBits(tt::elementOf(op.getType()));
  storeShared(buffer, layout::rowMajorStores(source, bits), 0, tile(op.getSrc()));
  barrier();
  define(op, readGathered(op, buffer));
  return success();
}
