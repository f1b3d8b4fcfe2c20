// Emits accesses to shared memory: those of exchange plans, and those of buffers with their own layout.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/lowering/TtgToLlvm/SharedReader.h"

#include "compiler/analysis/MemoryAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

llvm::Value *TtgFunctionEmitter::sharedPointer(uint32_t offset) {
  assert(module.sharedBase && "ops with a buffer are in the plan of shared memory");
  return ir.CreateConstGEP1_32(ir.getInt8Ty(), module.sharedBase, offset);
}

static SmallVector<uint32_t> inBytes(ArrayRef<uint32_t> bases, uint32_t elementBytes) {
  return llvm::map_to_vector(bases, [&](uint32_t basis) { return basis * elementBytes; });
}

namespace {
/// The addresses of accesses: a part per thread, and the access's own part, as an immediate where possible.
struct Addresses {
  IrBuilder &ir;
  llvm::Value *buffer, *thread;
  uint32_t elementBytes;

  std::pair<llvm::Value *, int64_t> of(const layout::SharedAccessPattern &pattern,
                                       const layout::SharedAccess &access) const {
    return of(access, pattern.isImmediate(access));
  }
  std::pair<llvm::Value *, int64_t> of(const layout::SharedAccess &access, bool isImmediate) const {
    const uint32_t own = access.offset * elementBytes;
    if (isImmediate)
      return {ir.CreatePtrAdd(buffer, thread), own};
    return {ir.CreatePtrAdd(buffer, ir.CreateXor(thread, ir.getInt32(own))), 0};
  }
};
} // namespace

static unsigned elementBytes(const llvm::Type *type) {
  return type->isPointerTy() ? 8 : std::max<unsigned>(1, type->getPrimitiveSizeInBits() / 8);
}

void TtgFunctionEmitter::storeShared(llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
                                     unsigned repetition, ArrayRef<llvm::Value *> registers) {
  const unsigned bytes = elementBytes(registers.front()->getType());
  llvm::Value *thread = threadBits(inBytes(pattern.laneBases, bytes), inBytes(pattern.warpBases, bytes));
  const Addresses addresses = {ir, buffer, thread, bytes};
  llvm::Value *isOwner = threadHasNone(pattern.idleLanes, pattern.idleWarps);
  for (const layout::SharedAccess &access : pattern.accesses) {
    if (access.repetition != repetition)
      continue;
    Tile values;
    for (uint32_t index : access.registers)
      values.push_back(registers[index]);
    const auto [pointer, offset] = addresses.of(pattern, access);
    target.storeShared(ir, pack(values), pointer, offset, isOwner);
  }
}

/// A load of adjacent words, aligned to all of them; no element spans two words.
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

SharedReader::SharedReader(TtgFunctionEmitter &emitter, llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
                           Type element)
    : emitter(emitter), pattern(pattern), element(element), bytes(analysis::memoryBits(element) / 8), buffer(buffer),
      thread(emitter.threadBits(inBytes(pattern.laneBases, bytes), inBytes(pattern.warpBases, bytes))), begin(thread) {}

void SharedReader::move(llvm::Value *bits, uint32_t mask) {
  begin = emitter.ir.CreateXor(thread, emitter.ir.CreateMul(bits, emitter.ir.getInt32(bytes)));
  moved = mask;
}

void SharedReader::read(const layout::SharedAccess &access, llvm::MutableArrayRef<llvm::Value *> registers) {
  IrBuilder &ir = emitter.ir;
  const bool isImmediate = pattern.isImmediate(access) && (access.offset & moved) == 0;
  const Addresses addresses = {ir, buffer, begin, bytes};
  const auto [pointer, offset] = addresses.of(access, isImmediate);
  const unsigned count = access.registers.size();
  Tile words = loadWords(ir, ir.CreatePtrAdd(pointer, ir.getInt32(offset)), bytes * count, bytes);
  for (auto [index, value] : llvm::zip_equal(access.registers, emitter.unpack(words, element, count)))
    registers[index] = value;
}

void TtgFunctionEmitter::loadShared(llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
                                    unsigned repetition, Type element, Tile &registers) {
  SharedReader reader(*this, buffer, pattern, element);
  for (const layout::SharedAccess &access : pattern.accesses)
    if (access.repetition == repetition)
      reader.read(access, registers);
}

//--- buffers with a layout -----------------------------------------------------------------

static LinearLayout bufferLayoutOf(ttg::MemDescType buffer) {
  return cast<ttg::LayoutEncoding>(buffer.getEncoding()).toLinearLayout(buffer.getShape());
}

static unsigned bytesOf(ttg::MemDescType buffer) { return analysis::memoryBits(buffer.getElementType()) / 8; }

layout::SharedAccessPattern lowering::accessPatternOf(RankedTensorType tile, ttg::MemDescType buffer) {
  const unsigned bytes = bytesOf(buffer);
  return layout::planSharedAccesses(ttg::linearLayoutOf(tile), bufferLayoutOf(buffer), bytes,
                                    analysis::kWidestAccessBytes / bytes);
}

void TtgFunctionEmitter::loadByLdmatrix(llvm::Value *buffer, const layout::LdStMatrixPlan &plan, Type element,
                                        Tile &registers) {
  const unsigned bytes = analysis::memoryBits(element) / 8;
  llvm::Value *thread = threadBits(inBytes(plan.rows.laneBases, bytes), inBytes(plan.rows.warpBases, bytes));
  const Addresses addresses = {ir, buffer, thread, bytes};
  for (const layout::SharedAccess &access : plan.rows.accesses) {
    const auto [pointer, offset] = addresses.of(plan.rows, access);
    const Tile words = target.ldmatrix(ir, pointer, offset, plan.matrices, plan.isTransposed);
    for (auto [index, value] : llvm::zip_equal(access.registers, unpack(words, element, access.registers.size())))
      registers[index] = value;
  }
}

void TtgFunctionEmitter::storeByStmatrix(llvm::Value *buffer, const layout::LdStMatrixPlan &plan,
                                         ArrayRef<llvm::Value *> registers) {
  const unsigned bytes = elementBytes(registers.front()->getType());
  llvm::Value *thread = threadBits(inBytes(plan.rows.laneBases, bytes), inBytes(plan.rows.warpBases, bytes));
  const Addresses addresses = {ir, buffer, thread, bytes};
  for (const layout::SharedAccess &access : plan.rows.accesses) {
    Tile values;
    for (uint32_t index : access.registers)
      values.push_back(registers[index]);
    // One word per matrix, as loads return them.
    Tile words;
    const unsigned perWord = values.size() / plan.matrices;
    for (unsigned matrix = 0; matrix < plan.matrices; ++matrix)
      llvm::append_range(words, pack(ArrayRef(values).slice(matrix * perWord, perWord)));
    const auto [pointer, offset] = addresses.of(plan.rows, access);
    target.stmatrix(ir, words, pointer, offset, plan.isTransposed);
  }
}

/// Stores by stmatrix where that takes fewer instructions.
void TtgFunctionEmitter::storeTile(llvm::Value *buffer, RankedTensorType type, ttg::MemDescType into,
                                   ArrayRef<llvm::Value *> registers) {
  const layout::SharedAccessPattern pattern = accessPatternOf(type, into);
  const LinearLayout &held = ttg::linearLayoutOf(type);
  const bool hasCopies = held.freeVariableMask(layout::kLane) || held.freeVariableMask(layout::kRegister);
  if (target.hasStmatrix() && bytesOf(into) <= 2 && !hasCopies)
    if (auto matrices = layout::planLdStMatrix(held, bufferLayoutOf(into), bytesOf(into));
        matrices && matrices->rows.accesses.size() < pattern.accesses.size())
      return storeByStmatrix(buffer, *matrices, registers);
  storeShared(buffer, pattern, 0, registers);
}

LogicalResult TtgFunctionEmitter::emitLocalAlloc(ttg::LocalAllocOp op) {
  llvm::Value *buffer = sharedPointer(module.shared.offsetOf.lookup(op));
  define(op, {buffer});
  if (op.getSrc())
    storeTile(buffer, cast<RankedTensorType>(op.getSrc().getType()), op.getType(), tile(op.getSrc()));
  return success();
}

LogicalResult TtgFunctionEmitter::emitLocalStore(ttg::LocalStoreOp op) {
  auto type = cast<RankedTensorType>(op.getSrc().getType());
  storeTile(scalar(op.getDst()), type, op.getDst().getType(), tile(op.getSrc()));
  return success();
}

LogicalResult TtgFunctionEmitter::emitLocalLoad(ttg::LocalLoadOp op) {
  if (isReadByFmaDot(op))
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  const uint32_t copies = ttg::linearLayoutOf(type).freeVariableMask(layout::kRegister);
  Tile registers(numRegisters(type), nullptr);
  const ttg::MemDescType buffer = op.getSrc().getType();
  std::optional<layout::LdStMatrixPlan> matrices;
  if (target.hasLdmatrix())
    matrices = layout::planLdStMatrix(ttg::linearLayoutOf(type), bufferLayoutOf(buffer), bytesOf(buffer));
  if (matrices)
    loadByLdmatrix(scalar(op.getSrc()), *matrices, type.getElementType(), registers);
  else
    loadShared(scalar(op.getSrc()), accessPatternOf(type, buffer), 0, type.getElementType(), registers);
  for (unsigned index = 0; index < registers.size(); ++index)
    registers[index] = registers[index & ~copies];
  define(op, std::move(registers));
  return success();
}

LogicalResult TtgFunctionEmitter::emitMemDescIndex(ttg::MemDescIndexOp op) {
  const ttg::MemDescType part = op.getType();
  const uint32_t bytes = llvm::product_of(part.getShape()) * bytesOf(part);
  define(op, {ir.CreatePtrAdd(scalar(op.getSrc()), ir.CreateMul(scalar(op.getIndex()), ir.getInt32(bytes), "",
                                                                /*HasNUW=*/true, /*HasNSW=*/true))});
  return success();
}

//--- asynchronous copies -------------------------------------------------------------------

/// A vector too small for an asynchronous copy is copied synchronously through a register.
void TtgFunctionEmitter::copyVector(const AsyncCopy &copy) {
  if (analysis::isCpAsyncSize(copy.bytes))
    return target.copyAsync(ir, copy);
  GlobalAccess access;
  access.pointer = copy.source;
  access.byteOffset = copy.sourceOffset;
  access.wordType = ir.getIntNTy(copy.bytes * 8);
  access.mask = copy.mask;
  access.cache = copy.cache;
  target.storeShared(ir, target.loadGlobal(ir, access, {ir.getIntN(copy.bytes * 8, 0)}), copy.target, copy.targetOffset,
                     nullptr);
}

LogicalResult TtgFunctionEmitter::emitAsyncCopy(ttg::AsyncCopyGlobalToLocalOp op) {
  auto pointers = cast<RankedTensorType>(op.getSrc().getType());
  const ttg::MemDescType buffer = op.getDst().getType();
  const unsigned bytes = bytesOf(buffer);
  const analysis::MemoryAccess access = *analysis::memoryAccessOf(op);
  const layout::SharedAccessPattern pattern =
      layout::planSharedAccesses(ttg::linearLayoutOf(pointers), bufferLayoutOf(buffer), bytes,
                                 analysis::vectorElems(access, module.axes), layout::RegisterOrder::Kept);
  if (op.getOther())
    return op.emitError() << "a copy with `other` is not supported on this target";
  llvm::Value *thread = threadBits(inBytes(pattern.laneBases, bytes), inBytes(pattern.warpBases, bytes));
  const Addresses addresses = {ir, scalar(op.getDst()), thread, bytes};
  // Threads that hold copies of an element write the same bytes.
  for (const layout::SharedAccess &sharedAccess : pattern.accesses) {
    const unsigned first = sharedAccess.registers.front();
    const BaseOffset source = baseOffsets.of(tile(op.getSrc())[first]);
    const auto [pointer, offset] = addresses.of(pattern, sharedAccess);
    copyVector({.source = source.base,
                .sourceOffset = source.offset,
                .target = pointer,
                .targetOffset = offset,
                .bytes = bytes * pattern.vectorElems,
                .mask = op.getMask() ? tile(op.getMask())[first] : nullptr,
                .cache = op.getCache()});
  }
  define(op, {});
  return success();
}
