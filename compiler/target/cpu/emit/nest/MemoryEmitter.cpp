// Emits the reads and writes of a chunk's lanes.
// SPDX-License-Identifier: MIT
//
// A lane that is masked off is never accessed. Where the machine has no masked vector access of the element's width,
// set lanes are copied one by one through a small buffer on the stack: a loop, since LLVM would emit a branch per lane.
#include "compiler/target/cpu/emit/nest/MemoryEmitter.h"

#include "compiler/target/cpu/emit/Prefetches.h"
#include "compiler/target/cpu/emit/Transpose.h"
#include "compiler/target/cpu/emit/nest/AddressEmitter.h"
#include "compiler/target/cpu/emit/nest/LaneLoop.h"
#include "compiler/target/cpu/emit/nest/MaskedVectors.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static bool isUnit(ChunkAccess access, llvm::Type *memory) {
  auto *stride = dyn_cast_or_null<llvm::ConstantInt>(access.stride);
  return stride && stride->getZExtValue() == bytesOf(memory);
}

/// The address of each lane in a loop over the lanes.
static auto addressByLane(NestContext &context, ChunkAccess access) {
  llvm::AllocaInst *addresses = access.stride ? nullptr : spillLanes(context, access.address);
  return [&context, access, addresses](llvm::Value *lane) {
    return addresses ? loadLane(context.ir, addresses, lane) : context.addresses.ofLane(access, lane);
  };
}

//--- reads ---------------------------------------------------------------------------------

/// Reads narrow lanes from computed addresses by scalar arithmetic: vectors have one port to insert lanes.
llvm::Value *MemoryEmitter::readWords(ChunkAccess access, llvm::FixedVectorType *type) {
  constexpr unsigned wordBits = 64;
  const unsigned bits = type->getScalarSizeInBits(), lanesOfWord = wordBits / bits;
  auto *words = llvm::FixedVectorType::get(ir.getInt64Ty(), chunk.lanes / lanesOfWord);
  llvm::Value *result = llvm::PoisonValue::get(words);
  for (unsigned word = 0; word < words->getNumElements(); ++word) {
    llvm::Value *packed = ir.getInt64(0);
    for (unsigned part = 0; part < lanesOfWord; ++part) {
      llvm::Value *address = context.addresses.ofLane(access, ir.getInt32(word * lanesOfWord + part));
      llvm::Value *lane = ir.CreateZExt(ir.CreateLoad(type->getElementType(), address), ir.getInt64Ty());
      packed = ir.CreateOr(packed, ir.CreateShl(lane, part * bits));
    }
    result = ir.CreateInsertElement(result, packed, word);
  }
  return ir.CreateBitCast(result, type);
}

/// Gathers narrow lanes as the aligned words of 32 bits that hold them: a word that holds a byte of an array lies in
/// the same page.
llvm::Value *MemoryEmitter::gatherFromWords(ChunkAccess access, llvm::FixedVectorType *type, llvm::Value *mask,
                                            llvm::Value *other) {
  auto *addresses = llvm::FixedVectorType::get(ir.getInt64Ty(), chunk.lanes);
  auto *words = llvm::FixedVectorType::get(ir.getInt32Ty(), chunk.lanes);
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

llvm::Value *MemoryEmitter::readLanes(ChunkAccess access, llvm::Type *memory, llvm::Value *mask, llvm::Value *other) {
  auto *type = llvm::FixedVectorType::get(memory, chunk.lanes);
  // Microcoded gathers leave room for few others in the reorder buffer, so few cache misses overlap: on Zen 5 they take
  // 1.5 times as long as scalar loads from memory, and 0.8 to 1 times from a cache.
  const bool isSlow = context.machine.hasMicrocodedGathers && !mask && chunk.lanes * 64 <= context.machine.registerBits;
  const bool hasGathers = !access.stride && !isSlow && context.machine.hasAvx512 && !memory->isPointerTy();
  const bool gathers = hasGathers && hasMaskedVectors(context.machine, memory) && bytesOf(memory) >= 4;
  if (hasGathers && bytesOf(memory) < 4 && memory->isIntegerTy())
    return gatherFromWords(access, type, mask, other);
  // Scalar loads, no loop: it would wait for its narrow stores when it reads all lanes.
  if (!mask && (access.stride || (!gathers && chunk.lanes <= maxUnrolledLanes))) {
    if (!access.stride && type->getPrimitiveSizeInBits() % 64 == 0 && bytesOf(memory) < 4 && memory->isIntegerTy())
      return readWords(access, type);
    llvm::Value *vector = llvm::PoisonValue::get(type);
    for (unsigned lane = 0; lane < chunk.lanes; ++lane)
      vector = ir.CreateInsertElement(vector,
                                      ir.CreateLoad(memory, context.addresses.ofLane(access, ir.getInt32(lane))), lane);
    return vector;
  }
  if (gathers)
    return ir.CreateMaskedGather(type, access.address, llvm::Align(bytesOf(memory)), mask, other);
  llvm::AllocaInst *lanes = context.frame.local(type);
  auto addressOf = addressByLane(context, access);
  ir.CreateStore(other ? other : llvm::Constant::getNullValue(type), lanes);
  forEachLane(context, mask, [&](llvm::Value *lane) {
    ir.CreateStore(ir.CreateLoad(memory, addressOf(lane)), ir.CreateGEP(memory, lanes, lane));
  });
  return ir.CreateLoad(type, lanes);
}

/// Reads a chunk in which one remainder may wrap: as one vector where the last lane shows that it does not.
llvm::Value *MemoryEmitter::readUnlessWrapped(ChunkAccess access, Type element, llvm::Value *mask, llvm::Value *other) {
  llvm::Value *first = context.addresses.ofLane(access, ir.getInt32(0));
  llvm::Value *last = context.addresses.ofLane(access, ir.getInt32(chunk.lanes - 1));
  llvm::Value *distance =
      ir.CreateSub(ir.CreatePtrToInt(last, ir.getInt64Ty()), ir.CreatePtrToInt(first, ir.getInt64Ty()));
  llvm::Value *isWhole = ir.CreateICmpEQ(distance, ir.getInt64(access.unwrappedBytes));
  llvm::Instruction *anchor = &*ir.GetInsertPoint(), *whole = nullptr, *wrapped = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(isWhole, anchor->getIterator(), &whole, &wrapped);
  auto readBefore = [&](llvm::Instruction *end, ChunkAccess from) {
    ir.SetInsertPoint(end);
    context.levels.restoreLocation();
    return read(from, element, mask, other);
  };
  llvm::Value *vector = readBefore(whole, {first, ir.getInt64(storageBytes(element))});
  llvm::Value *lanes = readBefore(wrapped, {access.address, nullptr});
  llvm::BasicBlock *after = anchor->getParent();
  ir.SetInsertPoint(after, after->begin());
  context.levels.restoreLocation();
  llvm::PHINode *result = ir.CreatePHI(vector->getType(), 2);
  result->addIncoming(vector, whole->getParent());
  result->addIncoming(lanes, wrapped->getParent());
  ir.SetInsertPoint(anchor);
  context.levels.restoreLocation();
  return result;
}

llvm::Value *MemoryEmitter::read(ChunkAccess access, Type element, llvm::Value *mask, llvm::Value *other) {
  if (access.unwrappedBytes)
    return readUnlessWrapped(access, element, mask, other);
  llvm::Type *memory = context.lanes.memoryType(element);
  auto *type = llvm::FixedVectorType::get(memory, chunk.lanes);
  const llvm::Align align(storageBytes(element));
  if (other && element.isInteger(1))
    other = ir.CreateZExt(other, type);
  llvm::Value *value;
  if (isUnit(access, memory) && !mask)
    value = ir.CreateAlignedLoad(type, access.address, align);
  else if (isUnit(access, memory) && hasMaskedVectors(context.machine, memory))
    value = emitMaskedLoad(context, access.address, mask, other ? other : llvm::Constant::getNullValue(type));
  else
    value = readLanes(access, memory, mask, other);
  return element.isInteger(1) ? ir.CreateTrunc(value, llvm::FixedVectorType::get(ir.getInt1Ty(), chunk.lanes)) : value;
}

llvm::Value *MemoryEmitter::readWhere(llvm::Value *condition, ChunkAccess access, Type element, llvm::Value *other) {
  llvm::BasicBlock *before = ir.GetInsertBlock();
  llvm::Value *vector = nullptr;
  llvm::BasicBlock *inside = nullptr;
  emitWhere(context, condition, [&] {
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

Element MemoryEmitter::readElement(ChunkAccess access, Type element, bool isVector) {
  if (isVector)
    return {read(access, element, nullptr, nullptr), true};
  llvm::Value *scalar = ir.CreateLoad(context.lanes.memoryType(element), access.address);
  return {element.isInteger(1) ? ir.CreateTrunc(scalar, ir.getInt1Ty()) : scalar, false};
}

//--- writes --------------------------------------------------------------------------------

void MemoryEmitter::write(ChunkAccess access, Type element, llvm::Value *value, llvm::Value *mask) {
  llvm::Type *memory = context.lanes.memoryType(element);
  const bool isVector = value->getType()->isVectorTy();
  llvm::Type *type = isVector ? llvm::FixedVectorType::get(memory, chunk.lanes) : memory;
  if (element.isInteger(1))
    value = ir.CreateZExt(value, type);
  if (!isVector) {
    ir.CreateStore(value, access.address);
    return;
  }
  if (isUnit(access, memory) && !mask) {
    if (!chunk.isStreaming) {
      ir.CreateAlignedStore(value, access.address, llvm::Align(storageBytes(element)));
      return;
    }
    llvm::StoreInst *store =
        ir.CreateAlignedStore(value, access.address, llvm::Align(context.machine.registerBits / 8));
    llvm::Metadata *one = llvm::ConstantAsMetadata::get(ir.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(ir.getContext(), one));
    return;
  }
  if (isUnit(access, memory) && hasMaskedVectors(context.machine, memory)) {
    emitMaskedStore(context, access.address, mask, value);
    return;
  }
  llvm::AllocaInst *lanes = spillLanes(context, value);
  auto addressOf = addressByLane(context, access);
  forEachLane(context, mask, [&](llvm::Value *lane) {
    llvm::Value *address = addressOf(lane);
    ir.CreateStore(loadLane(ir, lanes, lane), address);
  });
}

void MemoryEmitter::prefetchNext(Operation *op, ChunkAccess access, Type element) {
  constexpr uint64_t lineBytes = 64;
  llvm::Value *distance = context.prefetches.distance(op, context.nest);
  const uint64_t bytes = storageBytes(element) * chunk.lanes;
  const bool isWrite = isa<tt::StoreOp>(op);
  if (!distance || !access.stride || !isUnit(access, context.lanes.memoryType(element)) || bytes < lineBytes ||
      (isWrite && chunk.isStreaming))
    return;
  llvm::Value *ahead = ir.CreatePtrAdd(access.address, distance);
  for (uint64_t offset = 0; offset < bytes; offset += lineBytes)
    emitPrefetch(ir, ir.CreateConstGEP1_64(ir.getInt8Ty(), ahead, offset), isWrite);
}
