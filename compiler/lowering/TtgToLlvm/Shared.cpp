// Emits accesses to shared memory: those of exchange plans, and those of buffers with their own layout.
// SPDX-License-Identifier: MIT
#include "artifact/ElementType.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/layout/Distributed.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/lowering/TtgToLlvm/WordAccess.h"

#include "compiler/analysis/DotReads.h"
#include "compiler/analysis/MemoryAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

llvm::Value *TtgFunctionEmitter::sharedScratch(Operation *op, uint32_t byteOffset) {
  assert(module.sharedBase && "ops with a buffer are in the plan of shared memory");
  return ir.CreateConstGEP1_32(ir.getInt8Ty(), module.sharedBase, module.shared.offsetOf.lookup(op) + byteOffset);
}

static SmallVector<uint32_t> inBytes(ArrayRef<uint32_t> bases, uint32_t elementBytes) {
  return llvm::map_to_vector(bases, [&](uint32_t basis) { return basis * elementBytes; });
}

llvm::Value *lowering::withGaps(IrBuilder &ir, llvm::Value *offset, const layout::Padding &padding) {
  llvm::Value *result = offset;
  for (const layout::Gap &gap : padding.gaps) {
    llvm::Value *before = ir.CreateLShr(offset, llvm::Log2_32(gap.interval));
    result = ir.CreateAdd(result, ir.CreateShl(before, llvm::Log2_32(gap.size)));
  }
  return result;
}

llvm::Value *lowering::allocationAddress(TtgFunctionEmitter &emitter, const BufferAddress &buffer,
                                         const layout::Padding &padding, unsigned elementBytes) {
  if (!buffer.part)
    return buffer.first;
  IrBuilder &ir = emitter.ir;
  llvm::Value *bytes = ir.CreateMul(buffer.part, ir.getInt32(elementBytes));
  return ir.CreatePtrAdd(buffer.first, ir.CreateNeg(withGaps(ir, bytes, padding.scaled(elementBytes))));
}

SharedAddresses::SharedAddresses(TtgFunctionEmitter &emitter, const BufferAddress &address,
                                 const layout::SharedAccessPattern &pattern, unsigned elementBytes)
    : emitter(emitter), ir(emitter.ir), padding(pattern.padding.scaled(elementBytes)),
      buffer(allocationAddress(emitter, address, pattern.padding, elementBytes)),
      threadPart(
          emitter.threadBits(inBytes(pattern.laneBases, elementBytes), inBytes(pattern.warpBases, elementBytes))),
      begin(threadPart), elementBytes(elementBytes), threadMask(pattern.threadMask()), beginMask(threadMask) {
  if (auto *constant = dyn_cast_or_null<llvm::ConstantInt>(address.part))
    constantPart = constant->getZExtValue();
  else if (address.part) {
    begin = threadPart = ir.CreateXor(threadPart, ir.CreateMul(address.part, ir.getInt32(elementBytes)));
    beginMask = threadMask |= pattern.partMask;
  }
  if (llvm::any_of(pattern.accesses,
                   [&](const layout::SharedAccess &access) { return (access.offset ^ constantPart) & threadMask; }))
    rematerialise();
}

void SharedAddresses::rematerialise() { begin = emitter.target.rematerialised(ir, begin); }

std::pair<llvm::Value *, int64_t> SharedAddresses::of(const layout::SharedAccess &access) const {
  const uint32_t own = access.offset ^ constantPart, common = own & beginMask;
  llvm::Value *offset = common ? ir.CreateXor(begin, ir.getInt32(common * elementBytes)) : begin;
  // The immediate has no bit of the offset: gaps before the two add up.
  return {ir.CreatePtrAdd(buffer, withGaps(ir, offset, padding)),
          int64_t(padding.apply(uint64_t{own - common} * elementBytes))};
}

void SharedAddresses::move(llvm::Value *bits, uint32_t mask) {
  begin = ir.CreateXor(emitter.target.rematerialised(ir, threadPart), ir.CreateMul(bits, ir.getInt32(elementBytes)));
  beginMask = threadMask | mask;
}

static unsigned elementBytes(const llvm::Type *type) {
  return type->isPointerTy() ? 8 : artifact::bytesOfBits(type->getPrimitiveSizeInBits());
}

static constexpr unsigned kWordBytes = 4;

static bool isTransposed(const layout::SharedAccessPattern &pattern) {
  return pattern.matrix == layout::MatrixForm::Transposed;
}

/// Words of 32 bits, one per matrix.
static Tile packWords(TtgFunctionEmitter &emitter, ArrayRef<llvm::Value *> values, unsigned bytes) {
  Tile words;
  for (unsigned first = 0; first < values.size(); first += kWordBytes / bytes)
    llvm::append_range(words, emitter.pack(values.slice(first, kWordBytes / bytes)));
  return words;
}

void TtgFunctionEmitter::storeShared(const BufferAddress &buffer, const layout::SharedAccessPattern &pattern,
                                     unsigned repetition, ArrayRef<llvm::Value *> registers, llvm::Value *mask) {
  const unsigned bytes = elementBytes(registers.front()->getType());
  const SharedAddresses addresses(*this, buffer, pattern, bytes);
  llvm::Value *isOwner = threadHasNone(pattern.idleLanes, pattern.idleWarps);
  if (mask)
    isOwner = isOwner ? ir.CreateAnd(isOwner, mask) : mask;
  for (const layout::SharedAccess &access : pattern.accesses) {
    if (access.repetition != repetition)
      continue;
    Tile values;
    for (uint32_t index : access.registers)
      values.push_back(registers[index]);
    const auto [pointer, offset] = addresses.of(access);
    if (pattern.matrix != layout::MatrixForm::None)
      target.stmatrix(ir, packWords(*this, values, bytes), pointer, offset, isTransposed(pattern));
    else
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

SharedReader::SharedReader(TtgFunctionEmitter &emitter, const BufferAddress &buffer,
                           const layout::SharedAccessPattern &pattern, Type element)
    : emitter(emitter), pattern(pattern), element(element), bytes(tt::storageBytes(element)),
      addresses(emitter, buffer, pattern, bytes) {}

void SharedReader::read(const layout::SharedAccess &access, llvm::MutableArrayRef<llvm::Value *> registers) {
  IrBuilder &ir = emitter.ir;
  const auto [pointer, offset] = addresses.of(access);
  const unsigned count = access.registers.size();
  Tile words;
  if (pattern.matrix != layout::MatrixForm::None)
    llvm::append_range(words,
                       emitter.target.ldmatrix(ir, pointer, offset, bytes * count / kWordBytes, isTransposed(pattern)));
  else
    words = loadWords(ir, ir.CreatePtrAdd(pointer, ir.getInt32(offset)), bytes * count, bytes);
  for (auto [index, value] : llvm::zip_equal(access.registers, emitter.unpack(words, element, count)))
    registers[index] = value;
}

void TtgFunctionEmitter::loadShared(const BufferAddress &buffer, const layout::SharedAccessPattern &pattern,
                                    unsigned repetition, Type element, MutableArrayRef<llvm::Value *> registers) {
  SharedReader reader(*this, buffer, pattern, element);
  for (const layout::SharedAccess &access : pattern.accesses)
    if (access.repetition == repetition)
      reader.read(access, registers);
}

//--- buffers with a layout -----------------------------------------------------------------

unsigned lowering::elementBytesOf(ttg::MemDescType buffer) { return tt::storageBytes(buffer.getElementType()); }

LinearLayout lowering::inAllocation(const LinearLayout &tile, ttg::MemDescType buffer) {
  if (!ttg::isPartOfBuffer(buffer))
    return tile;
  std::vector<LinearLayout::Input> inputs;
  for (StringRef in : tile.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{in.str(), {}});
    for (unsigned bit = 0; bit < tile.inBits(in); ++bit)
      input.bases.push_back(tile.basis(in, bit));
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [name, extent] : llvm::zip_equal(tile.outputNames(), ttg::laidOutAllocation(buffer)))
    outputs.push_back({name.str(), int32_t(extent)});
  return LinearLayout::fromBases(inputs, outputs);
}

/// A part begins at a multiple of its extents.
uint32_t lowering::partMaskOf(ttg::MemDescType buffer) {
  if (!ttg::isPartOfBuffer(buffer))
    return 0;
  uint32_t mask = 0;
  const LinearLayout offsets = ttg::layoutOf(buffer).pseudoInvert();
  for (auto [dim, extent, whole] : llvm::enumerate(ttg::laidOutShape(buffer), ttg::laidOutAllocation(buffer)))
    for (int64_t step = extent; step < whole; step *= 2)
      mask |= offsets.apply({{layout::dimName(dim), int32_t(step)}}).front();
  return mask;
}

/// The most elements that are adjacent and aligned wherever a part begins, and between gaps.
static unsigned widestVector(const layout::Padding &padding, uint32_t partMask, unsigned most) {
  most = padding.widestVector(most);
  return partMask ? std::min<unsigned>(most, partMask & -partMask) : most;
}

layout::SharedAccessPattern lowering::accessPatternOf(RankedTensorType tile, ttg::MemDescType buffer, unsigned maxElems,
                                                      layout::RegisterOrder order) {
  const unsigned bytes = elementBytesOf(buffer);
  const layout::Padding padding = ttg::paddingOf(buffer);
  const uint32_t partMask = partMaskOf(buffer);
  const unsigned widest = widestVector(padding, partMask, std::min(maxElems, analysis::kWidestAccessBytes / bytes));
  auto pattern = layout::planSharedAccesses(inAllocation(ttg::linearLayoutOf(tile), buffer), ttg::layoutOf(buffer),
                                            bytes, widest, order);
  pattern.padding = padding;
  pattern.partMask = partMask;
  if (!padding.empty()) {
    const layout::Wavefronts counted = layout::countWavefronts(pattern, bytes, 1u << pattern.laneBases.size(), 1);
    pattern.wavefronts = counted.total;
    pattern.conflicts = counted.conflicts;
  }
  return pattern;
}

std::optional<layout::SharedAccessPattern> lowering::matrixPatternOf(RankedTensorType tile, ttg::MemDescType buffer) {
  constexpr unsigned rowBytes = 16;
  const unsigned bytes = elementBytesOf(buffer);
  const layout::Padding padding = ttg::paddingOf(buffer);
  const uint32_t partMask = partMaskOf(buffer);
  if (widestVector(padding, partMask, rowBytes / bytes) * bytes < rowBytes)
    return std::nullopt;
  auto pattern = layout::planLdStMatrix(inAllocation(ttg::linearLayoutOf(tile), buffer), ttg::layoutOf(buffer), bytes);
  if (pattern) {
    pattern->padding = padding;
    pattern->partMask = partMask;
  }
  return pattern;
}

static void storeTile(TtgFunctionEmitter &emitter, Value buffer, RankedTensorType tile,
                      ArrayRef<llvm::Value *> registers) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  if (!emitter.target.storeTile(emitter, emitter.buffer(buffer), type, tile, registers))
    emitter.storeShared(emitter.buffer(buffer), accessPatternOf(tile, type), 0, registers);
}

static LogicalResult emitLocalAlloc(TtgFunctionEmitter &emitter, ttg::LocalAllocOp op) {
  llvm::Value *buffer = emitter.sharedScratch(op);
  emitter.define(op, {buffer});
  if (op.getSrc())
    storeTile(emitter, op.getResult(), cast<RankedTensorType>(op.getSrc().getType()), emitter.tile(op.getSrc()));
  return success();
}

static LogicalResult emitLocalStore(TtgFunctionEmitter &emitter, ttg::LocalStoreOp op) {
  storeTile(emitter, op.getDst(), cast<RankedTensorType>(op.getSrc().getType()), emitter.tile(op.getSrc()));
  return success();
}

static LogicalResult emitLocalLoad(TtgFunctionEmitter &emitter, ttg::LocalLoadOp op) {
  if (analysis::isReadByDot(op))
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  const uint32_t copies = ttg::linearLayoutOf(type).freeVariableMask(layout::kRegister);
  Tile registers(numRegisters(type), nullptr);
  const ttg::MemDescType buffer = op.getSrc().getType();
  const BufferAddress address = emitter.buffer(op.getSrc());
  if (!emitter.target.loadTile(emitter, address, buffer, type, registers))
    emitter.loadShared(address, accessPatternOf(type, buffer), 0, type.getElementType(), registers);
  for (unsigned index = 0; index < registers.size(); ++index)
    registers[index] = registers[index & ~copies];
  emitter.define(op, std::move(registers));
  return success();
}

//--- asynchronous copies -------------------------------------------------------------------

/// A vector for which there is no asynchronous copy is copied synchronously through registers.
static void copyVector(TtgFunctionEmitter &emitter, const AsyncCopy &copy) {
  IrBuilder &ir = emitter.ir;
  if (analysis::isCpAsyncSize(copy.bytes) && emitter.target.copiesAsync(copy))
    return emitter.target.copyAsync(ir, copy);
  GlobalAccess access;
  access.pointer = copy.source;
  access.byteOffset = copy.sourceOffset;
  access.wordType = ir.getIntNTy(std::min(copy.bytes, 4u) * 8);
  access.numWords = std::max(copy.bytes / 4, 1u);
  access.mask = copy.mask;
  access.cache = copy.cache;
  access.bounded = copy.bounded;
  SmallVector<llvm::Value *, 4> others(copy.others);
  others.resize(access.numWords, llvm::ConstantInt::get(access.wordType, 0));
  emitter.target.storeShared(ir, emitter.target.loadGlobal(ir, access, others), copy.target, copy.targetOffset,
                             nullptr);
}

layout::SharedAccessPattern lowering::copyPatternOf(ttg::AsyncCopyGlobalToLocalOp op,
                                                    const index::AxisInfoAnalysis &axes) {
  return accessPatternOf(cast<RankedTensorType>(op.getSrc().getType()), op.getDst().getType(),
                         analysis::vectorElems(*analysis::memoryAccessOf(op), axes), layout::RegisterOrder::Kept);
}

/// What a vector gets where the mask is false; none where that is zeros.
static SmallVector<llvm::Value *, 4> othersOf(TtgFunctionEmitter &emitter, ttg::AsyncCopyGlobalToLocalOp op,
                                              const layout::SharedAccess &access, unsigned bytes) {
  if (!op.getMask() || !op.getOther())
    return {};
  const Tile &other = emitter.tile(op.getOther());
  const auto elements = llvm::map_to_vector(access.registers, [&](uint32_t index) { return other[index]; });
  const auto isZero = [](llvm::Value *value) {
    auto *constant = dyn_cast<llvm::Constant>(value);
    return constant && constant->isNullValue();
  };
  if (llvm::all_of(elements, isZero))
    return {};
  IrBuilder &ir = emitter.ir;
  llvm::Type *word = ir.getIntNTy(std::min(bytes, 4u) * 8);
  return splitWords(ir,
                    ir.CreateBitCast(joinWords(ir, emitter.pack(elements)), wholeType(word, std::max(bytes / 4, 1u))));
}

static LogicalResult emitAsyncCopy(TtgFunctionEmitter &emitter, ttg::AsyncCopyGlobalToLocalOp op) {
  const unsigned bytes = elementBytesOf(op.getDst().getType());
  const layout::SharedAccessPattern pattern = copyPatternOf(op, emitter.module.axes);
  const SharedAddresses addresses(emitter, emitter.buffer(op.getDst()), pattern, bytes);
  // Threads that hold copies of an element write the same bytes.
  for (const layout::SharedAccess &sharedAccess : pattern.accesses) {
    const unsigned first = sharedAccess.registers.front();
    const BaseOffset source = emitter.baseOffsets.of(emitter.tile(op.getSrc())[first]);
    const auto [pointer, offset] = addresses.of(sharedAccess);
    const SmallVector<llvm::Value *, 4> others = othersOf(emitter, op, sharedAccess, bytes * pattern.vectorElems);
    copyVector(emitter, {.source = source.base,
                         .sourceOffset = source.offset,
                         .target = pointer,
                         .targetOffset = offset,
                         .bytes = bytes * pattern.vectorElems,
                         .mask = op.getMask() ? emitter.tile(op.getMask())[first] : nullptr,
                         .others = others,
                         .cache = op.getCache(),
                         .bounded = boundedAddress(emitter, op, op.getSrc(), first),
                         .isInLaneOrder = pattern.isInLaneOrder()});
  }
  if (!analysis::isCpAsyncSize(bytes * pattern.vectorElems))
    emitter.target.releaseStores(emitter.ir, op.getDst().getType());
  emitter.define(op, {});
  return success();
}

static LogicalResult emitCommitGroup(TtgFunctionEmitter &emitter, ttg::AsyncCommitGroupOp op) {
  emitter.target.commitCopies(emitter.ir);
  emitter.define(op, {});
  return success();
}

static LogicalResult emitAsyncWait(TtgFunctionEmitter &emitter, ttg::AsyncWaitOp op) {
  emitter.target.waitForCopies(emitter.ir, op.getNum());
  emitter.define(op, {});
  return success();
}

void lowering::addSharedEmitters(OpEmitters &table) {
  table.add<emitLocalAlloc, ttg::LocalAllocOp>();
  table.add<emitLocalLoad, ttg::LocalLoadOp>();
  table.add<emitLocalStore, ttg::LocalStoreOp>();
  table.add<emitAsyncCopy, ttg::AsyncCopyGlobalToLocalOp>();
  table.add<emitCommitGroup, ttg::AsyncCommitGroupOp>();
  table.add<emitAsyncWait, ttg::AsyncWaitOp>();
}
