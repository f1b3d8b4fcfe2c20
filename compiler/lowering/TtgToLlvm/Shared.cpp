// Emits accesses to shared memory: those of exchange plans, and those of buffers with their own layout.
// SPDX-License-Identifier: MIT
#include "artifact/ElementType.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"
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

SharedAddresses::SharedAddresses(TtgFunctionEmitter &emitter, llvm::Value *buffer,
                                 const layout::SharedAccessPattern &pattern, unsigned elementBytes)
    : emitter(emitter), ir(emitter.ir), buffer(buffer),
      threadPart(
          emitter.threadBits(inBytes(pattern.laneBases, elementBytes), inBytes(pattern.warpBases, elementBytes))),
      begin(threadPart), elementBytes(elementBytes), threadMask(pattern.threadMask()), beginMask(threadMask) {
  if (llvm::any_of(pattern.accesses, [&](const layout::SharedAccess &access) { return access.offset & threadMask; }))
    rematerialise();
}

void SharedAddresses::rematerialise() { begin = emitter.target.rematerialised(ir, begin); }

std::pair<llvm::Value *, int64_t> SharedAddresses::of(const layout::SharedAccess &access) const {
  const uint32_t common = access.offset & beginMask;
  llvm::Value *offset = common ? ir.CreateXor(begin, ir.getInt32(common * elementBytes)) : begin;
  return {ir.CreatePtrAdd(buffer, offset), int64_t{access.offset - common} * elementBytes};
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

void TtgFunctionEmitter::storeShared(llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
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

SharedReader::SharedReader(TtgFunctionEmitter &emitter, llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
                           Type element)
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

void TtgFunctionEmitter::loadShared(llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
                                    unsigned repetition, Type element, MutableArrayRef<llvm::Value *> registers) {
  SharedReader reader(*this, buffer, pattern, element);
  for (const layout::SharedAccess &access : pattern.accesses)
    if (access.repetition == repetition)
      reader.read(access, registers);
}

//--- buffers with a layout -----------------------------------------------------------------

LinearLayout lowering::bufferLayoutOf(ttg::MemDescType buffer) {
  return cast<ttg::LayoutEncoding>(buffer.getEncoding()).toLinearLayout(buffer.getShape());
}

unsigned lowering::elementBytesOf(ttg::MemDescType buffer) { return tt::storageBytes(buffer.getElementType()); }

layout::SharedAccessPattern lowering::accessPatternOf(RankedTensorType tile, ttg::MemDescType buffer) {
  const unsigned bytes = elementBytesOf(buffer);
  return layout::planSharedAccesses(ttg::linearLayoutOf(tile), bufferLayoutOf(buffer), bytes,
                                    analysis::kWidestAccessBytes / bytes);
}

/// The shape of the buffer that a part is cut from.
static ArrayRef<int64_t> wholeShapeOf(ttg::MemDescType buffer) {
  return buffer.getAllocShape().take_back(buffer.getShape().size());
}

bool lowering::isPartOfBuffer(ttg::MemDescType buffer) { return wholeShapeOf(buffer) != buffer.getShape(); }

/// A tile's layout with the extents of a larger tile.
static LinearLayout widened(const LinearLayout &tile, ArrayRef<int64_t> shape) {
  std::vector<LinearLayout::Input> inputs;
  for (StringRef in : tile.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{in.str(), {}});
    for (unsigned bit = 0; bit < tile.inBits(in); ++bit)
      input.bases.push_back(tile.basis(in, bit));
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [name, extent] : llvm::zip_equal(tile.outputNames(), shape))
    outputs.push_back({name.str(), int32_t(extent)});
  return LinearLayout::fromBases(inputs, outputs);
}

/// The first element of a part, in coordinates of the whole buffer.
static LinearLayout::Coordinates beginOf(Value part) {
  LinearLayout::Coordinates begin(cast<ttg::MemDescType>(part.getType()).getShape().size(), 0);
  for (auto cut = part.getDefiningOp<ttg::MemDescSubsliceOp>(); cut;
       cut = cut.getSrc().getDefiningOp<ttg::MemDescSubsliceOp>())
    for (auto [coordinate, offset] : llvm::zip_equal(begin, cut.getOffsets()))
      coordinate += offset;
  return begin;
}

/// A part begins at a multiple of its extents: the offset of its first element is added by XOR to those of the others.
layout::SharedAccessPattern lowering::accessPatternOf(RankedTensorType tile, Value buffer) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  if (!isPartOfBuffer(type))
    return accessPatternOf(tile, type);
  const ArrayRef<int64_t> shape = wholeShapeOf(type);
  const LinearLayout whole = cast<ttg::LayoutEncoding>(type.getEncoding()).toLinearLayout(shape);
  const LinearLayout registers = widened(ttg::linearLayoutOf(tile), shape);
  std::vector<LinearLayout::Input> inputs = {{layout::kRegister.str(), {beginOf(buffer)}}};
  const uint32_t begin = LinearLayout::fromBases(inputs, registers.outputs())
                             .invertAndCompose(whole)
                             .basis(layout::kRegister, 0, layout::kOffset);
  const unsigned bytes = elementBytesOf(type), widest = analysis::kWidestAccessBytes / bytes;
  auto pattern =
      layout::planSharedAccesses(registers, whole, bytes, begin ? std::min<unsigned>(widest, begin & -begin) : widest);
  for (layout::SharedAccess &access : pattern.accesses)
    access.offset ^= begin;
  return pattern;
}

static void storeTile(TtgFunctionEmitter &emitter, llvm::Value *address, Value buffer, RankedTensorType tile,
                      ArrayRef<llvm::Value *> registers) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  if (isPartOfBuffer(type) || !emitter.target.storeTile(emitter, address, type, tile, registers))
    emitter.storeShared(address, accessPatternOf(tile, buffer), 0, registers);
}

static LogicalResult emitLocalAlloc(TtgFunctionEmitter &emitter, ttg::LocalAllocOp op) {
  llvm::Value *buffer = emitter.sharedScratch(op);
  emitter.define(op, {buffer});
  if (op.getSrc())
    storeTile(emitter, buffer, op.getResult(), cast<RankedTensorType>(op.getSrc().getType()),
              emitter.tile(op.getSrc()));
  return success();
}

static LogicalResult emitLocalStore(TtgFunctionEmitter &emitter, ttg::LocalStoreOp op) {
  storeTile(emitter, emitter.scalar(op.getDst()), op.getDst(), cast<RankedTensorType>(op.getSrc().getType()),
            emitter.tile(op.getSrc()));
  return success();
}

static LogicalResult emitLocalLoad(TtgFunctionEmitter &emitter, ttg::LocalLoadOp op) {
  if (analysis::isReadByDot(op))
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  const uint32_t copies = ttg::linearLayoutOf(type).freeVariableMask(layout::kRegister);
  Tile registers(numRegisters(type), nullptr);
  const ttg::MemDescType buffer = op.getSrc().getType();
  llvm::Value *begin = emitter.scalar(op.getSrc());
  if (isPartOfBuffer(buffer) || !emitter.target.loadTile(emitter, begin, buffer, type, registers))
    emitter.loadShared(begin, accessPatternOf(type, op.getSrc()), 0, type.getElementType(), registers);
  for (unsigned index = 0; index < registers.size(); ++index)
    registers[index] = registers[index & ~copies];
  emitter.define(op, std::move(registers));
  return success();
}

static LogicalResult emitLocalDealloc(TtgFunctionEmitter &, ttg::LocalDeallocOp) { return success(); }

static LogicalResult emitMemDescTrans(TtgFunctionEmitter &emitter, ttg::MemDescTransOp op) {
  emitter.define(op, {emitter.scalar(op.getSrc())});
  return success();
}

/// A part of a buffer needs no code: its loads and stores know where it begins.
static LogicalResult emitMemDescSubslice(TtgFunctionEmitter &emitter, ttg::MemDescSubsliceOp op) {
  for (Operation *user : op->getUsers())
    if (!isa<ttg::LocalLoadOp, ttg::LocalStoreOp, ttg::MemDescSubsliceOp>(user))
      return tt::report(user->getLoc(), diag::PartOfBuffer, user->getName().getStringRef());
  emitter.define(op, {emitter.scalar(op.getSrc())});
  return success();
}

static LogicalResult emitMemDescIndex(TtgFunctionEmitter &emitter, ttg::MemDescIndexOp op) {
  IrBuilder &ir = emitter.ir;
  const ttg::MemDescType part = op.getType();
  const uint32_t bytes = llvm::product_of(part.getShape()) * elementBytesOf(part);
  emitter.define(op, {ir.CreatePtrAdd(emitter.scalar(op.getSrc()),
                                      ir.CreateMul(emitter.scalar(op.getIndex()), ir.getInt32(bytes), "",
                                                   /*HasNUW=*/true, /*HasNSW=*/true))});
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
  const ttg::MemDescType buffer = op.getDst().getType();
  return layout::planSharedAccesses(
      ttg::linearLayoutOf(cast<RankedTensorType>(op.getSrc().getType())), bufferLayoutOf(buffer),
      elementBytesOf(buffer), analysis::vectorElems(*analysis::memoryAccessOf(op), axes), layout::RegisterOrder::Kept);
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
  const SharedAddresses addresses(emitter, emitter.scalar(op.getDst()), pattern, bytes);
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
  table.add<emitLocalDealloc, ttg::LocalDeallocOp>();
  table.add<emitMemDescIndex, ttg::MemDescIndexOp>();
  table.add<emitMemDescSubslice, ttg::MemDescSubsliceOp>();
  table.add<emitMemDescTrans, ttg::MemDescTransOp>();
  table.add<emitAsyncCopy, ttg::AsyncCopyGlobalToLocalOp>();
  table.add<emitCommitGroup, ttg::AsyncCommitGroupOp>();
  table.add<emitAsyncWait, ttg::AsyncWaitOp>();
}
