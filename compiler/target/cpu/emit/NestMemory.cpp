// Emits the reads and writes of a chunk's lanes.
// SPDX-License-Identifier: MIT
//
// A lane that is masked off is never accessed. Where the machine has no masked vector access of the element's width,
// set lanes are copied one by one through a small buffer on the stack: a loop, since LLVM would emit a branch per lane.
#include "artifact/ElementType.h"
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/emit/Prefetches.h"
#include "compiler/target/cpu/emit/Transpose.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

//--- lanes ---------------------------------------------------------------------------------

static unsigned bitsOf(llvm::Type *memory) {
  return memory->isPointerTy() ? 64 : memory->getPrimitiveSizeInBits().getFixedValue();
}

bool NestEmitter::hasMaskedVectors(llvm::Type *memory) const {
  const unsigned bits = bitsOf(memory);
  if (bits >= 32)
    return context.machine.registerBits >= 256;
  return context.machine.hasAvx512Bw;
}

static bool isUnit(ChunkAccess access, llvm::Type *memory) {
  auto *stride = dyn_cast_or_null<llvm::ConstantInt>(access.stride);
  return stride && stride->getZExtValue() == artifact::bytesOfBits(bitsOf(memory));
}

void NestEmitter::forEachLane(llvm::Value *mask, llvm::function_ref<void(llvm::Value *)> body) {
  llvm::Instruction *anchor = &*ir.GetInsertPoint();
  llvm::BasicBlock *before = anchor->getParent();
  llvm::Value *all = llvm::ConstantInt::get(ir.getInt64Ty(), chunkLanes == 64 ? ~0ull : (1ull << chunkLanes) - 1);
  llvm::Value *bits = all;
  if (mask)
    bits = ir.CreateZExt(ir.CreateBitCast(mask, ir.getIntNTy(chunkLanes)), ir.getInt64Ty());
  llvm::BasicBlock *after = before->splitBasicBlock(anchor->getIterator(), "lanes.end");
  llvm::BasicBlock *loop = llvm::BasicBlock::Create(ir.getContext(), "lanes", before->getParent(), after);
  before->getTerminator()->eraseFromParent();
  ir.SetInsertPoint(before);
  restoreLocation();
  ir.CreateCondBr(ir.CreateICmpNE(bits, ir.getInt64(0)), loop, after);
  ir.SetInsertPoint(loop);
  llvm::PHINode *left = ir.CreatePHI(ir.getInt64Ty(), 2);
  left->addIncoming(bits, before);
  llvm::Value *lane = ir.CreateIntrinsic(llvm::Intrinsic::cttz, {ir.getInt64Ty()}, {left, ir.getTrue()});
  body(ir.CreateTrunc(lane, ir.getInt32Ty()));
  llvm::Value *rest = ir.CreateAnd(left, ir.CreateSub(left, ir.getInt64(1)));
  left->addIncoming(rest, ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateICmpNE(rest, ir.getInt64(0)), loop, after);
  ir.SetInsertPoint(anchor);
  restoreLocation();
}

/// Runs `body` for each part of a masked access that one instruction does: its first lane and number of lanes. Without
/// AVX-512, LLVM 22 loads the upper registers of a wider vector although the mask is zero there.
void NestEmitter::forEachMaskedPart(llvm::Type *memory, llvm::function_ref<void(unsigned, unsigned)> body) {
  const unsigned bits = bitsOf(memory);
  const unsigned most = context.machine.hasAvx512 ? chunkLanes : context.machine.registerBits / bits;
  for (unsigned lane = 0; lane < chunkLanes; lane += most)
    body(lane, std::min(most, chunkLanes - lane));
}

/// Some lanes of a vector. Those of a mask are computed from the same lanes of its operands, each value once: each part
/// is then simplified by itself, and none is found to be zero as late as in LLVM's selection of instructions, which
/// fails then.
llvm::Value *NestEmitter::partOf(llvm::Value *vector, unsigned firstLane, unsigned lanes, LaneParts &known,
                                 unsigned depth) {
  constexpr unsigned maxDepth = 32;
  if (lanes == chunkLanes)
    return vector;
  if (auto found = known.find(vector); found != known.end())
    return found->second;
  auto part = [&](llvm::Value *operand) { return partOf(operand, firstLane, lanes, known, depth + 1); };
  const bool isMask = vector->getType()->getScalarType()->isIntegerTy(1);
  auto *op = dyn_cast<llvm::BinaryOperator>(vector);
  auto *compare = dyn_cast<llvm::CmpInst>(vector);
  llvm::Value *result;
  if (llvm::Value *scalar = llvm::getSplatValue(vector))
    result = ir.CreateVectorSplat(lanes, scalar);
  else if (op && isMask && depth < maxDepth)
    result = ir.CreateBinOp(op->getOpcode(), part(op->getOperand(0)), part(op->getOperand(1)));
  else if (compare && depth < maxDepth)
    result = ir.CreateCmp(compare->getPredicate(), part(compare->getOperand(0)), part(compare->getOperand(1)));
  else
    result = ir.CreateShuffleVector(vector, llvm::createSequentialMask(firstLane, lanes, 0));
  return known[vector] = result;
}

llvm::Value *NestEmitter::maskedLoad(ChunkAccess access, llvm::Type *memory, llvm::Align align, llvm::Value *mask,
                                     llvm::Value *other) {
  SmallVector<llvm::Value *> parts;
  forEachMaskedPart(memory, [&](unsigned firstLane, unsigned lanes) {
    LaneParts known;
    parts.push_back(ir.CreateMaskedLoad(llvm::FixedVectorType::get(memory, lanes),
                                        ir.CreateConstGEP1_64(memory, access.address, firstLane), align,
                                        partOf(mask, firstLane, lanes, known), partOf(other, firstLane, lanes, known)));
  });
  return parts.size() == 1 ? parts.front() : llvm::concatenateVectors(ir, parts);
}

void NestEmitter::maskedStore(ChunkAccess access, llvm::Type *memory, llvm::Align align, llvm::Value *mask,
                              llvm::Value *value) {
  forEachMaskedPart(memory, [&](unsigned firstLane, unsigned lanes) {
    LaneParts known;
    ir.CreateMaskedStore(partOf(value, firstLane, lanes, known),
                         ir.CreateConstGEP1_64(memory, access.address, firstLane), align,
                         partOf(mask, firstLane, lanes, known));
  });
}

/// Reads narrow lanes from computed addresses by scalar arithmetic: vectors have one port to insert lanes.
llvm::Value *NestEmitter::readWords(ChunkAccess access, llvm::FixedVectorType *type) {
  constexpr unsigned wordBits = 64;
  const unsigned bits = type->getScalarSizeInBits(), lanesOfWord = wordBits / bits;
  auto *words = llvm::FixedVectorType::get(ir.getInt64Ty(), chunkLanes / lanesOfWord);
  llvm::Value *result = llvm::PoisonValue::get(words);
  for (unsigned word = 0; word < words->getNumElements(); ++word) {
    llvm::Value *packed = ir.getInt64(0);
    for (unsigned part = 0; part < lanesOfWord; ++part) {
      llvm::Value *address = laneAddress(access, ir.getInt32(word * lanesOfWord + part));
      llvm::Value *lane = ir.CreateZExt(ir.CreateLoad(type->getElementType(), address), ir.getInt64Ty());
      packed = ir.CreateOr(packed, ir.CreateShl(lane, part * bits));
    }
    result = ir.CreateInsertElement(result, packed, word);
  }
  return ir.CreateBitCast(result, type);
}

/// Gathers narrow lanes as the aligned words of 32 bits that hold them: a word that holds a byte of an array lies in
/// the same page.
llvm::Value *NestEmitter::gatherFromWords(ChunkAccess access, llvm::FixedVectorType *type, llvm::Value *mask,
                                          llvm::Value *other) {
  auto *addresses = llvm::FixedVectorType::get(ir.getInt64Ty(), chunkLanes);
  auto *words = llvm::FixedVectorType::get(ir.getInt32Ty(), chunkLanes);
  llvm::Value *address = ir.CreatePtrToInt(access.address, addresses);
  llvm::Value *aligned =
      ir.CreateIntToPtr(ir.CreateAnd(address, llvm::ConstantInt::getSigned(addresses, -4)), access.address->getType());
  llvm::Value *read = ir.CreateMaskedGather(words, aligned, llvm::Align(4), mask, llvm::Constant::getNullValue(words));
  llvm::Value *offset = ir.CreateAnd(ir.CreateTrunc(address, words), llvm::ConstantInt::get(words, 3));
  llvm::Value *value = ir.CreateTrunc(ir.CreateLShr(read, ir.CreateShl(offset, 3)), type);
  return mask && other ? ir.CreateSelect(mask, value, other) : value;
}

/// Up to so many lanes are read from computed addresses without a loop.
static constexpr unsigned maxUnrolledLanes = 16;

llvm::Value *NestEmitter::readLanes(ChunkAccess access, llvm::Type *memory, llvm::Value *mask, llvm::Value *other) {
  auto *type = llvm::FixedVectorType::get(memory, chunkLanes);
  // Microcoded gathers leave room for few others in the reorder buffer, so few cache misses overlap: on Zen 5 they take
  // 1.5 times as long as scalar loads from memory, and 0.8 to 1 times from a cache.
  const bool isSlow = context.machine.hasMicrocodedGathers && !mask && chunkLanes * 64 <= context.machine.registerBits;
  const bool hasGathers = !access.stride && !isSlow && context.machine.hasAvx512 && !memory->isPointerTy();
  const bool gathers = hasGathers && hasMaskedVectors(memory) && bitsOf(memory) >= 32;
  if (hasGathers && bitsOf(memory) < 32 && memory->isIntegerTy())
    return gatherFromWords(access, type, mask, other);
  // Scalar loads, no loop: it would wait for its narrow stores when it reads all lanes.
  if (!mask && (access.stride || (!gathers && chunkLanes <= maxUnrolledLanes))) {
    if (!access.stride && type->getPrimitiveSizeInBits() % 64 == 0 && bitsOf(memory) < 32 && memory->isIntegerTy())
      return readWords(access, type);
    llvm::Value *vector = llvm::PoisonValue::get(type);
    for (unsigned lane = 0; lane < chunkLanes; ++lane)
      vector = ir.CreateInsertElement(vector, ir.CreateLoad(memory, laneAddress(access, ir.getInt32(lane))), lane);
    return vector;
  }
  if (gathers)
    return ir.CreateMaskedGather(type, access.address, llvm::Align(artifact::bytesOfBits(bitsOf(memory))), mask, other);
  llvm::AllocaInst *lanes = context.frame.local(type);
  llvm::AllocaInst *addresses = nullptr;
  if (!access.stride) {
    addresses = context.frame.local(access.address->getType());
    ir.CreateStore(access.address, addresses);
  }
  ir.CreateStore(other ? other : llvm::Constant::getNullValue(type), lanes);
  forEachLane(mask, [&](llvm::Value *lane) {
    llvm::Value *address =
        addresses
            ? static_cast<llvm::Value *>(ir.CreateLoad(ir.getPtrTy(), ir.CreateGEP(ir.getPtrTy(), addresses, lane)))
            : laneAddress(access, lane);
    ir.CreateStore(ir.CreateLoad(memory, address), ir.CreateGEP(memory, lanes, lane));
  });
  return ir.CreateLoad(type, lanes);
}

/// Reads a chunk in which one remainder may wrap: as one vector where the last lane shows that it does not.
llvm::Value *NestEmitter::readUnlessWrapped(ChunkAccess access, Type element, llvm::Value *mask, llvm::Value *other) {
  llvm::Value *first = laneAddress(access, ir.getInt32(0));
  llvm::Value *last = laneAddress(access, ir.getInt32(chunkLanes - 1));
  llvm::Value *distance =
      ir.CreateSub(ir.CreatePtrToInt(last, ir.getInt64Ty()), ir.CreatePtrToInt(first, ir.getInt64Ty()));
  llvm::Value *isWhole = ir.CreateICmpEQ(distance, ir.getInt64(access.unwrappedBytes));
  llvm::Instruction *anchor = &*ir.GetInsertPoint(), *whole = nullptr, *wrapped = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(isWhole, anchor->getIterator(), &whole, &wrapped);
  auto readBefore = [&](llvm::Instruction *end, ChunkAccess from) {
    ir.SetInsertPoint(end);
    restoreLocation();
    return read(from, element, mask, other);
  };
  llvm::Value *vector = readBefore(whole, {first, ir.getInt64(storageBytes(element))});
  llvm::Value *lanes = readBefore(wrapped, {access.address, nullptr});
  llvm::BasicBlock *after = anchor->getParent();
  ir.SetInsertPoint(after, after->begin());
  restoreLocation();
  llvm::PHINode *result = ir.CreatePHI(vector->getType(), 2);
  result->addIncoming(vector, whole->getParent());
  result->addIncoming(lanes, wrapped->getParent());
  ir.SetInsertPoint(anchor);
  restoreLocation();
  return result;
}

llvm::Value *NestEmitter::read(ChunkAccess access, Type element, llvm::Value *mask, llvm::Value *other) {
  if (access.unwrappedBytes)
    return readUnlessWrapped(access, element, mask, other);
  llvm::Type *memory = context.lanes.memoryType(element);
  auto *type = llvm::FixedVectorType::get(memory, chunkLanes);
  const llvm::Align align(storageBytes(element));
  if (other && element.isInteger(1))
    other = ir.CreateZExt(other, type);
  llvm::Value *value;
  if (isUnit(access, memory) && !mask)
    value = ir.CreateAlignedLoad(type, access.address, align);
  else if (isUnit(access, memory) && hasMaskedVectors(memory))
    value = maskedLoad(access, memory, align, mask, other ? other : llvm::Constant::getNullValue(type));
  else
    value = readLanes(access, memory, mask, other);
  return element.isInteger(1) ? ir.CreateTrunc(value, llvm::FixedVectorType::get(ir.getInt1Ty(), chunkLanes)) : value;
}

/// Reads a whole chunk where the condition holds, at the insert point; `other` elsewhere.
llvm::Value *NestEmitter::readWhere(llvm::Value *condition, ChunkAccess access, Type element, llvm::Value *other) {
  llvm::BasicBlock *before = ir.GetInsertBlock();
  llvm::Value *vector = nullptr;
  llvm::BasicBlock *inside = nullptr;
  emitWhere(condition, [&] {
    vector = read(access, element, nullptr, nullptr);
    inside = ir.GetInsertBlock();
  });
  llvm::BasicBlock *after = ir.GetInsertBlock();
  const llvm::IRBuilderBase::InsertPointGuard guard(ir);
  ir.SetInsertPoint(after, after->begin());
  llvm::PHINode *result = ir.CreatePHI(vector->getType(), 2);
  result->addIncoming(vector, inside);
  result->addIncoming(other, before);
  return result;
}

void NestEmitter::prefetchNext(Operation *op, ChunkAccess access, Type element) {
  constexpr uint64_t lineBytes = 64;
  llvm::Value *distance = context.prefetches.distance(op, nest);
  const uint64_t bytes = storageBytes(element) * chunkLanes;
  const bool isWrite = isa<tt::StoreOp>(op);
  if (!distance || !access.stride || !isUnit(access, context.lanes.memoryType(element)) || bytes < lineBytes ||
      (isWrite && isStreaming))
    return;
  llvm::Value *ahead = ir.CreatePtrAdd(access.address, distance);
  for (uint64_t offset = 0; offset < bytes; offset += lineBytes)
    emitPrefetch(ir, ir.CreateConstGEP1_64(ir.getInt8Ty(), ahead, offset), isWrite);
}

void NestEmitter::write(ChunkAccess access, Type element, llvm::Value *value, llvm::Value *mask) {
  llvm::Type *memory = context.lanes.memoryType(element);
  auto *type = llvm::FixedVectorType::get(memory, chunkLanes);
  const llvm::Align align(storageBytes(element));
  if (element.isInteger(1))
    value = ir.CreateZExt(value, type);
  if (isUnit(access, memory) && !mask) {
    if (!isStreaming) {
      ir.CreateAlignedStore(value, access.address, align);
      return;
    }
    llvm::StoreInst *store =
        ir.CreateAlignedStore(value, access.address, llvm::Align(context.machine.registerBits / 8));
    llvm::Metadata *one = llvm::ConstantAsMetadata::get(ir.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(ir.getContext(), one));
    return;
  }
  if (isUnit(access, memory) && hasMaskedVectors(memory)) {
    maskedStore(access, memory, align, mask, value);
    return;
  }
  llvm::AllocaInst *lanes = context.frame.local(type);
  ir.CreateStore(value, lanes);
  llvm::AllocaInst *addresses = nullptr;
  if (!access.stride) {
    addresses = context.frame.local(access.address->getType());
    ir.CreateStore(access.address, addresses);
  }
  forEachLane(mask, [&](llvm::Value *lane) {
    llvm::Value *address =
        addresses
            ? static_cast<llvm::Value *>(ir.CreateLoad(ir.getPtrTy(), ir.CreateGEP(ir.getPtrTy(), addresses, lane)))
            : laneAddress(access, lane);
    ir.CreateStore(ir.CreateLoad(memory, ir.CreateGEP(memory, lanes, lane)), address);
  });
}

//--- ops -----------------------------------------------------------------------------------

void NestEmitter::emitWhere(llvm::Value *condition, llvm::function_ref<void()> body, bool isRare) {
  if (auto *truth = dyn_cast<llvm::ConstantInt>(condition)) {
    if (truth->isOne())
      body();
    return;
  }
  llvm::Instruction *anchor = &*ir.GetInsertPoint();
  llvm::MDNode *weights = isRare ? llvm::MDBuilder(ir.getContext()).createUnlikelyBranchWeights() : nullptr;
  llvm::Instruction *end =
      llvm::SplitBlockAndInsertIfThen(condition, anchor->getIterator(), /*Unreachable=*/false, weights);
  ir.SetInsertPoint(end);
  restoreLocation();
  body();
  ir.SetInsertPoint(anchor);
  restoreLocation();
}

Element NestEmitter::loadElement(Operation *op, const IndexMap &map, unsigned level) {
  auto load = cast<tt::LoadOp>(op);
  Type element = tt::elementOf(load.getType());
  const bool isVector = isVectorMap(map) && !inactiveScalar;
  Element mask{ir.getTrue(), false}, other{context.lanes.constant({}, element, 1), false};
  if (inactiveScalar && llvm::is_contained(map, nest.vectorDim)) // masked off, whatever else the mask contains
    return load.getOther() ? evaluate(load.getOther(), map, level) : other;
  if (load.getMask())
    mask = evaluate(load.getMask(), map, level);
  if (!mask)
    return {};
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (load.getOther() && !(truth && truth->isOne()))
    other = evaluate(load.getOther(), map, level);
  if (!other || (truth && truth->isZero()))
    return other;
  ChunkAccess access = accessOf(load.getPtr(), map, op);
  if (!access.address)
    return {};
  insertAt(level);
  if (isVector)
    prefetchNext(op, access, element);
  if (isVector && mode == Mode::Main && !truth && !mask.isVector)
    return {readWhere(mask.value, access, element, asVector(other)), true};
  if (isVector)
    return {read(access, element, truth ? nullptr : asVector(mask), truth ? nullptr : asVector(other)), true};

  llvm::Type *memory = context.lanes.memoryType(element);
  llvm::Value *value = other.value;
  llvm::AllocaInst *slot = truth ? nullptr : context.frame.local(value->getType());
  if (slot)
    ir.CreateStore(value, slot);
  emitWhere(mask.value, [&] {
    value = ir.CreateLoad(memory, access.address);
    if (element.isInteger(1))
      value = ir.CreateTrunc(value, ir.getInt1Ty());
    if (slot)
      ir.CreateStore(value, slot);
  });
  return {slot ? static_cast<llvm::Value *>(ir.CreateLoad(slot->getAllocatedType(), slot)) : value, false};
}

void NestEmitter::writeTile(const Root &root, unsigned level, bool isNext) {
  Element element = evaluate(root.value, identityMap(nest.shape.size()), level);
  if (!element)
    return;
  const BufferId buffer = root.written();
  llvm::Value *base = isNext ? context.buffers.nextAt(buffer) : context.buffers.at(buffer);
  if (root.offset) {
    insertAt(0);
    base = ir.CreateConstGEP1_64(ir.getInt8Ty(), base, root.offset * storageBytes(tt::elementOf(root.value.getType())));
  }
  writeAt(base, buffer, element, root.value.getType(), level);
}

void NestEmitter::writeElement(Element element, Value tile, BufferId buffer, unsigned level) {
  writeAt(context.buffers.at(buffer), buffer, element, tile.getType(), level);
}

/// Writes the chunk's elements to a tile of the nest's shape.
void NestEmitter::writeAt(llvm::Value *base, BufferId buffer, Element element, Type tile, unsigned level) {
  ChunkAccess access = bufferAccess(base, buffer, tile, chunkMap());
  Type type = tt::elementOf(tile);
  insertAt(level);
  if (chunkLanes > 1)
    write(access, type, asVector(element), nullptr);
  else
    ir.CreateStore(type.isInteger(1) ? ir.CreateZExt(element.value, ir.getInt8Ty()) : element.value, access.address);
}
