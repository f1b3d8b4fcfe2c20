// Shared memory: the accesses of an exchange plan, and buffers with a layout of their own.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

llvm::Value *FunctionEmitter::sharedPointer(uint32_t offset) {
  assert(module.sharedBase && "ops with a buffer are in the plan of shared memory");
  return ir.CreateConstGEP1_32(ir.getInt8Ty(), module.sharedBase, offset);
}

static SmallVector<uint32_t> inBytes(ArrayRef<uint32_t> bases, uint32_t elementBytes) {
  return llvm::map_to_vector(bases, [&](uint32_t basis) { return basis * elementBytes; });
}

namespace {
/// Where the accesses of one side lie: the thread's part once, the access's own part as an immediate where possible.
struct Addresses {
  IrBuilder &ir;
  llvm::Value *buffer, *thread;
  uint32_t elementBytes;

  std::pair<llvm::Value *, int64_t> of(const layout::SharedSide &side, const layout::SharedAccess &access) const {
    const uint32_t own = access.offset * elementBytes;
    if (side.isImmediate(access))
      return {ir.CreatePtrAdd(buffer, thread), own};
    return {ir.CreatePtrAdd(buffer, ir.CreateXor(thread, ir.getInt32(own))), 0};
  }
};
} // namespace

static unsigned elementBytes(const llvm::Type *type) {
  return type->isPointerTy() ? 8 : std::max<unsigned>(1, type->getPrimitiveSizeInBits() / 8);
}

void FunctionEmitter::storeShared(llvm::Value *buffer, const layout::SharedSide &side, unsigned repetition,
                                  ArrayRef<llvm::Value *> registers) {
  const unsigned bytes = elementBytes(registers.front()->getType());
  llvm::Value *thread = threadBits(inBytes(side.laneBases, bytes), inBytes(side.warpBases, bytes));
  const Addresses addresses = {ir, buffer, thread, bytes};
  llvm::Value *isOwner = threadHasNone(side.idleLanes, side.idleWarps);
  for (const layout::SharedAccess &access : side.accesses) {
    if (access.repetition != repetition)
      continue;
    Tile values;
    for (uint32_t index : access.registers)
      values.push_back(registers[index]);
    const auto [pointer, offset] = addresses.of(side, access);
    target.storeShared(ir, pack(values), pointer, offset, isOwner);
  }
}

/// A load of words side by side, aligned to all of them; no element spans two.
static Tile loadWords(IrBuilder &ir, llvm::Value *pointer, unsigned bytes, unsigned elementBytes) {
  llvm::Type *word = ir.getIntNTy(std::min(bytes * 8, bytes > 8 && elementBytes < 8 ? 32u : 64u));
  const unsigned count = bytes * 8 / word->getIntegerBitWidth();
  if (count == 1)
    return {ir.CreateAlignedLoad(word, pointer, llvm::Align(bytes))};
  llvm::Value *all = ir.CreateAlignedLoad(llvm::FixedVectorType::get(word, count), pointer, llvm::Align(bytes));
  Tile words;
  for (unsigned index = 0; index < count; ++index)
    words.push_back(ir.CreateExtractElement(all, uint64_t{index}));
  return words;
}

void FunctionEmitter::loadShared(llvm::Value *buffer, const layout::SharedSide &side, unsigned repetition, Type element,
                                 Tile &registers) {
  const unsigned bytes = analysis::memoryBits(element) / 8;
  llvm::Value *thread = threadBits(inBytes(side.laneBases, bytes), inBytes(side.warpBases, bytes));
  const Addresses addresses = {ir, buffer, thread, bytes};
  for (const layout::SharedAccess &access : side.accesses) {
    if (access.repetition != repetition)
      continue;
    const auto [pointer, offset] = addresses.of(side, access);
    const unsigned count = access.registers.size();
    Tile words = loadWords(ir, ir.CreatePtrAdd(pointer, ir.getInt32(offset)), bytes * count, bytes);
    for (auto [index, value] : llvm::zip_equal(access.registers, unpack(words, element, count)))
      registers[index] = value;
  }
}

//--- buffers with a layout -----------------------------------------------------------------

/// The accesses by which a tile reaches a buffer: registers that lie side by side in it go together.
static layout::SharedSide reach(RankedTensorType tile, ttg::MemDescType buffer) {
  const LinearLayout &registers = ttg::linearLayoutOf(tile);
  const LinearLayout places = cast<ttg::LayoutEncoding>(buffer.getEncoding()).toLinearLayout(buffer.getShape());
  layout::SharedSide side;
  const LinearLayout offsets = registers.invertAndCompose(places);
  side.offsets = offsets;
  for (unsigned bit = 0; bit < offsets.inBits(layout::kLane); ++bit)
    side.laneBases.push_back(offsets.basis(layout::kLane, bit, layout::kOffset));
  for (unsigned bit = 0; bit < offsets.inBits(layout::kWarp); ++bit)
    side.warpBases.push_back(offsets.basis(layout::kWarp, bit, layout::kOffset));
  side.idleLanes = registers.freeVariableMask(layout::kLane);
  side.idleWarps = registers.freeVariableMask(layout::kWarp);
  return side;
}

/// The largest number of registers, from the first on, that stand side by side, aligned for every thread.
static unsigned sideBySide(const layout::SharedSide &side, unsigned most) {
  const LinearLayout &offsets = side.offsets;
  unsigned bits = 0;
  while ((2u << bits) <= most && bits < offsets.inBits(layout::kRegister) &&
         offsets.basis(layout::kRegister, bits, layout::kOffset) == 1 << bits)
    ++bits;
  auto isAligned = [&](uint32_t basis) { return (basis & ((1u << bits) - 1)) == 0; };
  for (; bits > 0; --bits) {
    bool fits = llvm::all_of(side.laneBases, isAligned) && llvm::all_of(side.warpBases, isAligned);
    for (unsigned bit = bits; bit < offsets.inBits(layout::kRegister); ++bit)
      fits &= isAligned(offsets.basis(layout::kRegister, bit, layout::kOffset));
    if (fits)
      break;
  }
  return 1u << bits;
}

static layout::SharedSide planReach(RankedTensorType tile, ttg::MemDescType buffer) {
  layout::SharedSide side = reach(tile, buffer);
  side.vectorElems = sideBySide(side, 128 / analysis::memoryBits(tile.getElementType()));
  const uint32_t copies = ttg::linearLayoutOf(tile).freeVariableMask(layout::kRegister);
  for (uint32_t first = 0; first < uint32_t(side.offsets.inSize(layout::kRegister)); first += side.vectorElems) {
    if (first & copies)
      continue;
    layout::SharedAccess access;
    access.offset = side.offsets.apply({{layout::kRegister, int32_t(first)}}).front();
    for (unsigned next = 0; next < side.vectorElems; ++next)
      access.registers.push_back(first + next);
    side.accesses.push_back(std::move(access));
  }
  return side;
}

LogicalResult FunctionEmitter::emitLocalAlloc(ttg::LocalAllocOp op) {
  llvm::Value *buffer = sharedPointer(module.shared.offsetOf.lookup(op));
  define(op, {buffer});
  if (op.getSrc())
    storeShared(buffer, planReach(cast<RankedTensorType>(op.getSrc().getType()), op.getType()), 0, tile(op.getSrc()));
  return success();
}

LogicalResult FunctionEmitter::emitLocalStore(ttg::LocalStoreOp op) {
  auto type = cast<RankedTensorType>(op.getSrc().getType());
  storeShared(scalar(op.getDst()), planReach(type, op.getDst().getType()), 0, tile(op.getSrc()));
  return success();
}

LogicalResult FunctionEmitter::emitLocalLoad(ttg::LocalLoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  const uint32_t copies = ttg::linearLayoutOf(type).freeVariableMask(layout::kRegister);
  Tile registers(numRegisters(type), nullptr);
  loadShared(scalar(op.getSrc()), planReach(type, op.getSrc().getType()), 0, type.getElementType(), registers);
  for (unsigned index = 0; index < registers.size(); ++index)
    registers[index] = registers[index & ~copies];
  define(op, std::move(registers));
  return success();
}
