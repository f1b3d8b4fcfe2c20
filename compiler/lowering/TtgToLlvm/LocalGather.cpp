// Emits accesses to buffers in shared memory by indices: gathers, scatters, atomic scatters.
// SPDX-License-Identifier: MIT
//
// The offset of an element is linear over GF(2) in its coordinates: that of the coordinates of a register without the
// axis, which a thread computes once, ^ that of the index.
#include "artifact/ElementType.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/layout/Distributed.h"
#include "compiler/lowering/AtomicForms.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/OwnersResults.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"

#include <map>

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

namespace {
/// The addresses of elements whose coordinate along one dimension is an index.
class IndexedElements {
public:
  IndexedElements(TtgFunctionEmitter &emitter, Value buffer, Value indices, unsigned axis);
  llvm::Value *addressOf(unsigned index);

private:
  llvm::Value *offsetAlongAxis(llvm::Value *index);

  IrBuilder &ir;
  const Tile &indices;
  layout::Padding padding;                   ///< in bytes
  SmallVector<uint32_t> ofRegisters, ofAxis; ///< offsets of the bits of the register and of the index, in bytes
  llvm::Value *allocation, *thread;
};
} // namespace

/// The tile's layout with coordinate 0 along the axis.
static LinearLayout atAxisZero(const LinearLayout &tile, unsigned axis, ArrayRef<int64_t> shape) {
  std::vector<LinearLayout::Input> inputs;
  for (StringRef in : tile.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{in.str(), {}});
    for (unsigned bit = 0; bit < tile.inBits(in); ++bit)
      input.bases.emplace_back(tile.basis(in, bit))[axis] = 0;
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [name, extent] : llvm::zip_equal(tile.outputNames(), shape))
    outputs.push_back({name.str(), int32_t(extent)});
  return LinearLayout::fromBases(inputs, outputs);
}

IndexedElements::IndexedElements(TtgFunctionEmitter &emitter, Value buffer, Value indices, unsigned axis)
    : ir(emitter.ir), indices(emitter.tile(indices)) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  const unsigned bytes = elementBytesOf(type);
  const LinearLayout inBuffer = ttg::layoutOf(type);
  const LinearLayout offsets =
      atAxisZero(ttg::linearLayoutOf(cast<RankedTensorType>(indices.getType())), axis, ttg::laidOutAllocation(type))
          .invertAndCompose(inBuffer);
  auto basesOf = [&](StringRef input) {
    SmallVector<uint32_t> bases;
    for (unsigned bit = 0; bit < offsets.inBits(input); ++bit)
      bases.push_back(offsets.basis(input, bit, layout::kOffset) * bytes);
    return bases;
  };
  ofRegisters = basesOf(layout::kRegister);
  const LinearLayout offsetOf = inBuffer.pseudoInvert();
  for (int64_t step = 1; step < type.getShape()[axis]; step *= 2)
    ofAxis.push_back(offsetOf.apply({{layout::dimName(axis), int32_t(step)}}).front() * bytes);
  padding = ttg::paddingOf(type).scaled(bytes);
  const BufferAddress address = emitter.buffer(buffer);
  allocation = allocationAddress(emitter, address, ttg::paddingOf(type), bytes);
  thread = emitter.threadBits(basesOf(layout::kLane), basesOf(layout::kWarp));
  if (address.part)
    thread = ir.CreateXor(thread, ir.CreateMul(address.part, ir.getInt32(bytes)));
}

/// Bits that move by the same distance are moved together. Those beyond the extent are dropped.
llvm::Value *IndexedElements::offsetAlongAxis(llvm::Value *index) {
  std::map<int, uint32_t> maskOfShift;
  for (auto [bit, basis] : llvm::enumerate(ofAxis))
    for (unsigned to = 0; to < 32; ++to)
      if (basis >> to & 1)
        maskOfShift[int(to) - int(bit)] |= 1u << bit;
  llvm::Value *offset = ir.getInt32(0);
  for (auto [shift, mask] : maskOfShift) {
    llvm::Value *bits = ir.CreateAnd(index, ir.getInt32(mask));
    offset = ir.CreateXor(offset, shift >= 0 ? ir.CreateShl(bits, shift) : ir.CreateLShr(bits, -shift));
  }
  return offset;
}

llvm::Value *IndexedElements::addressOf(unsigned index) {
  uint32_t own = 0;
  for (auto [bit, basis] : llvm::enumerate(ofRegisters))
    own ^= index >> bit & 1 ? basis : 0;
  llvm::Value *offset = ir.CreateXor(thread, ir.getInt32(own));
  offset = ir.CreateXor(offset, offsetAlongAxis(ir.CreateSExtOrTrunc(indices[index], ir.getInt32Ty())));
  return ir.CreatePtrAdd(allocation, withGaps(ir, offset, padding));
}

//--- gather and scatter --------------------------------------------------------------------

static LogicalResult emitLocalGather(TtgFunctionEmitter &emitter, ttg::LocalGatherOp op) {
  IndexedElements elements(emitter, op.getSrc(), op.getIndices(), op.getAxis());
  const Type element = tt::elementOf(op.getType());
  llvm::Type *type = emitter.elements.memoryType(element);
  const uint32_t copies = copyMask(op.getType());
  Tile result;
  for (unsigned index = 0; index < numRegisters(op.getType()); ++index) {
    if (index & copies) {
      result.push_back(result[index & ~copies]);
      continue;
    }
    llvm::Value *loaded =
        emitter.ir.CreateAlignedLoad(type, elements.addressOf(index), llvm::Align(tt::storageBytes(element)));
    result.push_back(emitter.elements.fromMemory(loaded, element));
  }
  emitter.define(op, std::move(result));
  return success();
}

static LogicalResult emitLocalScatter(TtgFunctionEmitter &emitter, ttg::LocalScatterOp op) {
  IndexedElements elements(emitter, op.getDst(), op.getIndices(), op.getAxis());
  llvm::Value *isOwner = emitter.ownerOf(op.getIndices().getType());
  const uint32_t copies = copyMask(op.getIndices().getType());
  for (auto [index, value] : llvm::enumerate(emitter.tile(op.getValues())))
    if (!(index & copies))
      emitter.target.storeShared(emitter.ir, emitter.pack({value}), elements.addressOf(index), 0, isOwner);
  return success();
}

//--- atomic scatter ------------------------------------------------------------------------

/// One access where `mask` (null: always) is true; gives the old element.
static llvm::Value *combineOnce(TtgFunctionEmitter &emitter, tt::RMWOp op, llvm::Value *pointer, llvm::Value *value,
                                llvm::Value *mask) {
  IrBuilder &ir = emitter.ir;
  llvm::BasicBlock *before = ir.GetInsertBlock(), *after = nullptr;
  if (mask) {
    llvm::BasicBlock *active = emitter.newBlock("atomic");
    after = emitter.newBlock("atomic.end");
    ir.CreateCondBr(mask, active, after);
    ir.SetInsertPoint(active);
  }
  llvm::Type *type = value->getType();
  const llvm::Align align(artifact::bytesOfBits(type->getPrimitiveSizeInBits()));
  const auto scope = ir.getContext().getOrInsertSyncScopeID(emitter.target.scopeName(tt::MemSyncScope::CTA));
  llvm::AtomicRMWInst *old =
      ir.CreateAtomicRMW(atomicOperationOf(op), pointer, value, align, llvm::AtomicOrdering::Monotonic, scope);
  emitter.target.markAtomic(*old);
  if (!mask)
    return old;
  llvm::BasicBlock *end = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  llvm::PHINode *result = ir.CreatePHI(type, 2);
  result->addIncoming(llvm::Constant::getNullValue(type), before);
  result->addIncoming(old, end);
  return result;
}

static LogicalResult emitLocalAtomicScatter(TtgFunctionEmitter &emitter, ttg::LocalAtomicScatterRMWOp op) {
  IrBuilder &ir = emitter.ir;
  IndexedElements elements(emitter, op.getDst(), op.getIndices(), op.getAxis());
  auto type = cast<RankedTensorType>(op.getType());
  llvm::Value *isOwner = emitter.ownerOf(type);
  const uint32_t copies = copyMask(type);
  const Type element = type.getElementType();
  Tile result;
  for (auto [index, value] : llvm::enumerate(emitter.tile(op.getValues()))) {
    if (index & copies) {
      result.push_back(result[index & ~copies]);
      continue;
    }
    llvm::Value *mask = op.getMask() ? emitter.tile(op.getMask())[index] : nullptr;
    if (isOwner)
      mask = mask ? ir.CreateAnd(mask, isOwner) : isOwner;
    result.push_back(emitter.elements.fromMemory(
        combineOnce(emitter, op.getAtomicRmwOp(), elements.addressOf(index), emitter.elements.toMemory(value), mask),
        element));
  }
  if (!op.getResult().use_empty())
    shareOwnersResults(emitter, op, type, result);
  emitter.define(op, std::move(result));
  return success();
}

void lowering::addLocalGatherEmitters(OpEmitters &table) {
  table.add<emitLocalGather, ttg::LocalGatherOp>();
  table.add<emitLocalScatter, ttg::LocalScatterOp>();
  table.add<emitLocalAtomicScatter, ttg::LocalAtomicScatterRMWOp>();
}
