// Emits memory accesses: LLVM's loads and stores, in a branch where there is a mask.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/lowering/AmdEmitter.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace nereid;
using namespace nereid::amd;
using namespace nereid::lowering;

using Words = llvm::SmallVector<llvm::Value *, 4>;

static llvm::Type *wholeType(llvm::Type *word, unsigned count) {
  return count == 1 ? word : llvm::FixedVectorType::get(word, count);
}

static llvm::Align alignmentOf(llvm::Type *word, unsigned count) {
  return llvm::Align(word->getIntegerBitWidth() / 8 * count);
}

static llvm::Value *offsetPointer(IrBuilder &ir, llvm::Value *pointer, int64_t offset) {
  if (offset == 0)
    return pointer;
  const bool isShort = pointer->getType()->getPointerAddressSpace() == 3;
  return ir.CreatePtrAdd(pointer, isShort ? ir.getInt32(offset) : ir.getInt64(offset));
}

/// Data that is used once leaves the caches to other data.
static void markCaching(llvm::Instruction &access, tt::CacheModifier cache, tt::EvictionPolicy evict) {
  const bool isStreamed = cache == tt::CacheModifier::CS || evict == tt::EvictionPolicy::EVICT_FIRST;
  if (!isStreamed)
    return;
  llvm::LLVMContext &context = access.getContext();
  auto *one = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
  access.setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, {one}));
}

/// Emits a branch around what `emit` emits; none where the mask is null.
static void emitWhere(IrBuilder &ir, llvm::Value *mask, llvm::function_ref<void()> emit) {
  if (!mask)
    return emit();
  llvm::Function *function = ir.GetInsertBlock()->getParent();
  auto *active = llvm::BasicBlock::Create(ir.getContext(), "active", function);
  auto *end = llvm::BasicBlock::Create(ir.getContext(), "active.end", function);
  ir.CreateCondBr(mask, active, end);
  ir.SetInsertPoint(active);
  emit();
  ir.CreateBr(end);
  ir.SetInsertPoint(end);
}

Words AmdEmitter::loadGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> others) {
  llvm::Type *type = wholeType(access.wordType, access.numWords);
  llvm::BasicBlock *before = ir.GetInsertBlock(), *active = nullptr;
  llvm::Value *all = nullptr;
  emitWhere(ir, access.mask, [&] {
    active = ir.GetInsertBlock();
    llvm::LoadInst *load = ir.CreateAlignedLoad(type, offsetPointer(ir, access.pointer, access.byteOffset),
                                                alignmentOf(access.wordType, access.numWords),
                                                access.isVolatile || access.cache == tt::CacheModifier::CV);
    markCaching(*load, access.cache, access.evict);
    all = load;
  });
  auto join = [&](llvm::Value *loaded, llvm::Value *other) -> llvm::Value * {
    if (!access.mask)
      return loaded;
    llvm::PHINode *value = ir.CreatePHI(loaded->getType(), 2);
    value->addIncoming(loaded, active);
    value->addIncoming(other, before);
    return value;
  };
  if (access.numWords == 1)
    return {join(all, access.mask ? others.front() : nullptr)};
  // One phi of the vector: the words of what the mask leaves out are put together before the branch.
  llvm::Value *other = nullptr;
  if (access.mask) {
    IrBuilder atBranch(before->getTerminator());
    other = llvm::PoisonValue::get(type);
    for (unsigned index = 0; index < access.numWords; ++index)
      other = atBranch.CreateInsertElement(other, others[index], uint64_t{index});
  }
  llvm::Value *whole = join(all, other);
  Words words;
  for (unsigned index = 0; index < access.numWords; ++index)
    words.push_back(ir.CreateExtractElement(whole, uint64_t{index}));
  return words;
}

static llvm::StoreInst *storeWords(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer,
                                   int64_t offset) {
  llvm::Type *word = words.front()->getType();
  llvm::Value *all = words.front();
  if (words.size() > 1) {
    all = llvm::PoisonValue::get(wholeType(word, words.size()));
    for (auto [index, value] : llvm::enumerate(words))
      all = ir.CreateInsertElement(all, value, uint64_t{index});
  }
  return ir.CreateAlignedStore(all, offsetPointer(ir, pointer, offset), alignmentOf(word, words.size()));
}

void AmdEmitter::storeGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) {
  emitWhere(ir, access.mask, [&] {
    llvm::StoreInst *store = storeWords(ir, words, access.pointer, access.byteOffset);
    store->setVolatile(access.isVolatile || access.cache == tt::CacheModifier::WT);
    markCaching(*store, access.cache, access.evict);
  });
}

void AmdEmitter::storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer,
                             int64_t byteOffset, llvm::Value *mask) {
  emitWhere(ir, mask, [&] { storeWords(ir, words, pointer, byteOffset); });
}

llvm::SmallVector<llvm::Value *, 8> AmdEmitter::ldmatrix(IrBuilder &, llvm::Value *, int64_t, unsigned, bool) {
  llvm_unreachable("plans have no matrix accesses for this target");
}
void AmdEmitter::stmatrix(IrBuilder &, llvm::ArrayRef<llvm::Value *>, llvm::Value *, int64_t, bool) {
  llvm_unreachable("plans have no matrix accesses for this target");
}
void AmdEmitter::copyAsync(IrBuilder &, const AsyncCopy &) {
  llvm_unreachable("no pass makes asynchronous copies for this target");
}

//--- atomics -------------------------------------------------------------------------------

// "User Guide for AMDGPU Backend", memory scopes; the empty name is the system.
llvm::StringRef AmdEmitter::scopeName(tt::MemSyncScope scope) const {
  switch (scope) {
  case tt::MemSyncScope::CTA:
    return "workgroup";
  case tt::MemSyncScope::GPU:
    return "agent";
  case tt::MemSyncScope::SYSTEM:
    return "";
  }
  llvm_unreachable("all scopes are listed");
}

/// Memory of hipMalloc is coarse-grained: the instructions add floats there. Without the marks LLVM makes loops of
/// compare-and-swap. (Triton does the same.)
void AmdEmitter::markAtomic(llvm::AtomicRMWInst &atomic) {
  llvm::LLVMContext &context = atomic.getContext();
  auto *empty = llvm::MDNode::get(context, {});
  atomic.setMetadata("amdgpu.no.fine.grained.memory", empty);
  atomic.setMetadata("amdgpu.no.remote.memory", empty);
  if (atomic.getOperation() == llvm::AtomicRMWInst::FAdd && atomic.getType()->isFloatTy())
    atomic.setMetadata("amdgpu.ignore.denormal.mode", empty);
}
