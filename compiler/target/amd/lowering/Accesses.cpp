// Emits memory accesses: buffer instructions where the distance from the base is bounded; else LLVM's loads and stores,
// in a branch where there is a mask.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/WordAccess.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"

#include "compiler/lowering/ControlFlow.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace nereid;
using namespace nereid::amd;
using namespace nereid::lowering;

using Words = llvm::SmallVector<llvm::Value *, 4>;

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
  emitConditional(ir, mask, emit);
}

//--- buffers -------------------------------------------------------------------------------

// A buffer of 2 GiB begins at the access's base. Lanes that the mask leaves out have an offset outside of it: they load
// zeros and store nothing, without a branch.
namespace {
constexpr uint32_t kBufferBytes = uint32_t{1} << 31;
/// Offsets up to here are in the instruction itself ("RDNA3" instruction set architecture, MUBUF: 12 bits).
constexpr int64_t kLargestImmediate = 4095;
constexpr uint32_t kVolatileBuffer = uint32_t{1} << 31; // IntrinsicsAMDGPU.td: the auxiliary operand
} // namespace

static llvm::Value *bufferOf(IrBuilder &ir, const Arch &arch, llvm::Value *base) {
  return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_make_buffer_rsrc, {ir.getPtrTy(8), base->getType()},
                            {base, ir.getInt16(0), ir.getInt64(kBufferBytes), ir.getInt32(arch.bufferFlags)});
}

static llvm::Value *bufferOffset(IrBuilder &ir, const BoundedAddress &address, llvm::Value *mask) {
  const auto plus = [&](llvm::Value *offset) {
    return address.byteOffset ? ir.CreateAdd(offset, ir.getInt32(static_cast<uint32_t>(address.byteOffset))) : offset;
  };
  llvm::Value *offset = address.offset ? address.offset : ir.getInt32(0);
  if (!mask)
    return plus(offset);
  // Vectors whose offsets differ by immediates share the select.
  llvm::Value *outside = ir.getInt32(kBufferBytes);
  if (address.byteOffset >= 0 && address.byteOffset <= kLargestImmediate)
    return plus(ir.CreateSelect(mask, offset, outside));
  return ir.CreateSelect(mask, plus(offset), outside);
}

/// Buffers are accessed as words of up to 32 bits.
static llvm::Type *bufferType(IrBuilder &ir, const GlobalAccess &access) {
  const unsigned bits = access.wordType->getIntegerBitWidth() * access.numWords;
  return bits <= 32 ? access.wordType : wholeType(ir.getInt32Ty(), bits / 32);
}

static llvm::Value *bufferControl(IrBuilder &ir, bool isVolatile) {
  return ir.getInt32(isVolatile ? kVolatileBuffer : 0);
}

static Words loadBuffer(IrBuilder &ir, const Arch &arch, const GlobalAccess &access,
                        llvm::ArrayRef<llvm::Value *> others) {
  llvm::CallInst *load = ir.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_load, {bufferType(ir, access)},
      {bufferOf(ir, arch, access.bounded.base), bufferOffset(ir, access.bounded, access.mask), ir.getInt32(0),
       bufferControl(ir, access.isVolatile || access.cache == tt::CacheModifier::CV)});
  markCaching(*load, access.cache, access.evict);
  Words words = splitWords(ir, ir.CreateBitCast(load, wholeType(access.wordType, access.numWords)));
  for (unsigned index = 0; access.mask && index < words.size(); ++index) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(others[index]);
    if (!constant || !constant->isNullValue())
      words[index] = ir.CreateSelect(access.mask, words[index], others[index]);
  }
  return words;
}

static void storeBuffer(IrBuilder &ir, const Arch &arch, const GlobalAccess &access,
                        llvm::ArrayRef<llvm::Value *> words) {
  llvm::CallInst *store = ir.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_store, {bufferType(ir, access)},
      {ir.CreateBitCast(joinWords(ir, words), bufferType(ir, access)), bufferOf(ir, arch, access.bounded.base),
       bufferOffset(ir, access.bounded, access.mask), ir.getInt32(0),
       bufferControl(ir, access.isVolatile || access.cache == tt::CacheModifier::WT)});
  markCaching(*store, access.cache, access.evict);
}

//--- to LDS --------------------------------------------------------------------------------

/// Loads a vector of each lane to LDS from `first` on, which all lanes share.
void AmdEmitter::loadToLds(IrBuilder &ir, const AsyncCopy &copy, llvm::Value *first, llvm::Value *mask) {
  llvm::Value *lds = ir.CreateIntToPtr(first, ir.getPtrTy(3)), *bytes = ir.getInt32(copy.bytes), *zero = ir.getInt32(0);
  llvm::CallInst *load =
      copy.bounded.base
          ? ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_raw_ptr_buffer_load_lds, {},
                               {bufferOf(ir, arch, copy.bounded.base), lds, bytes, bufferOffset(ir, copy.bounded, mask),
                                zero, zero, bufferControl(ir, false)})
          : ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_global_load_lds, {},
                               {offsetPointer(ir, copy.source, copy.sourceOffset), lds, bytes, zero, zero});
  markCaching(*load, copy.cache, tt::EvictionPolicy::NORMAL);
  hasLoadsToLds = true;
}

/// The lanes' vectors follow each other from the address of the first lane on, which is all that the instruction takes.
/// Buffers give zeros to lanes that are masked off; else those lanes take no part and store what they get.
void AmdEmitter::copyAsync(IrBuilder &ir, const AsyncCopy &copy) {
  llvm::Value *target = ir.CreatePtrToInt(offsetPointer(ir, copy.target, copy.targetOffset), ir.getInt32Ty());
  llvm::Value *first = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {ir.getInt32Ty()},
                                          llvm::ArrayRef<llvm::Value *>{target});
  if (!copy.mask || (copy.bounded.base && copy.others.empty())) {
    loadToLds(ir, copy, first, copy.mask);
    const bool isFirst = copiesOfGroup == 0;
    copiesOfGroup = isFirst || groupBlock == ir.GetInsertBlock() ? copiesOfGroup + 1 : 1;
    groupBlock = ir.GetInsertBlock();
    return;
  }
  emitConditional(ir, copy.mask, [&] { loadToLds(ir, copy, first, nullptr); });
  Words others(copy.others);
  others.resize(std::max(copy.bytes / 4, 1u), ir.getInt32(0));
  storeShared(ir, others, copy.target, copy.targetOffset, ir.CreateNot(copy.mask));
}

/// Copies in other basic blocks than the end of their group may not have been executed: they do not count.
void AmdEmitter::commitCopies(IrBuilder &ir) {
  if (!arch.ldsLoadBytes)
    return;
  const unsigned copies = groupBlock == ir.GetInsertBlock() ? copiesOfGroup : 0;
  copiesOfSmallestGroup = std::min(copiesOfSmallestGroup.value_or(copies), copies);
  copiesOfGroup = 0;
}

void AmdEmitter::waitForCopies(IrBuilder &ir, unsigned numPending) {
  if (arch.ldsLoadBytes)
    waits.push_back({wait(ir, {.loads = 0}), numPending});
}

/// Loads end in their order. As many may be pending as the last groups have at least.
void AmdEmitter::settleWaits() {
  for (auto [call, numPending] : waits) {
    const unsigned loads = std::min(numPending * copiesOfSmallestGroup.value_or(0), 63u);
    call->setArgOperand(0, llvm::ConstantInt::get(call->getArgOperand(0)->getType(), immediateOf({.loads = loads})));
  }
}

/// Barriers separate an access to LDS from the loads that fill what it reads; those in flight fill other buffers.
void amd::separateLdsLoads(llvm::Module &module) {
  llvm::SmallVector<llvm::Instruction *> toLds;
  for (auto id : {llvm::Intrinsic::amdgcn_raw_ptr_buffer_load_lds, llvm::Intrinsic::amdgcn_global_load_lds})
    for (llvm::Function &function : module)
      if (function.getIntrinsicID() == id)
        for (llvm::User *user : function.users())
          toLds.push_back(llvm::cast<llvm::Instruction>(user));
  if (toLds.empty())
    return;
  llvm::MDBuilder metadata(module.getContext());
  llvm::MDNode *domain = metadata.createAnonymousAliasScopeDomain("lds");
  const auto scope = [&](llvm::StringRef name) -> llvm::MDNode * {
    return llvm::MDNode::get(module.getContext(), {metadata.createAnonymousAliasScope(domain, name)});
  };
  llvm::MDNode *loads = scope("loads to LDS"), *accesses = scope("accesses to LDS");
  for (llvm::Instruction *load : toLds)
    load->setMetadata(llvm::LLVMContext::MD_alias_scope, loads);
  for (llvm::Function &function : module)
    for (llvm::Instruction &access : llvm::instructions(function))
      if (const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&access);
          pointer && pointer->getType()->getPointerAddressSpace() == 3) {
        access.setMetadata(llvm::LLVMContext::MD_alias_scope, accesses);
        access.setMetadata(llvm::LLVMContext::MD_noalias, loads);
      }
}

//--- loads and stores ----------------------------------------------------------------------

Words AmdEmitter::loadGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> others) {
  if (access.bounded.base)
    return loadBuffer(ir, arch, access, others);
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
  // One phi of the vector: the words of what the mask leaves out are put together before the branch.
  llvm::Value *other = nullptr;
  if (access.mask) {
    IrBuilder atBranch(before->getTerminator());
    other = joinWords(atBranch, others);
  }
  return splitWords(ir, join(all, other));
}

static llvm::StoreInst *storeWords(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer,
                                   int64_t offset) {
  return ir.CreateAlignedStore(joinWords(ir, words), offsetPointer(ir, pointer, offset),
                               alignmentOf(words.front()->getType(), words.size()));
}

void AmdEmitter::storeGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) {
  if (access.bounded.base)
    return storeBuffer(ir, arch, access, words);
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

/// No pass of LLVM's moves a convergent call out of a loop.
llvm::Value *AmdEmitter::rematerialised(IrBuilder &ir, llvm::Value *offset) {
  llvm::Type *word = offset->getType();
  auto *copy = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "", "=v,0", /*hasSideEffects=*/false);
  llvm::CallInst *call = ir.CreateCall(copy, {offset});
  call->setConvergent();
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return call;
}

llvm::SmallVector<llvm::Value *, 8> AmdEmitter::ldmatrix(IrBuilder &, llvm::Value *, int64_t, unsigned, bool) {
  llvm_unreachable("plans have no matrix accesses for this target");
}
void AmdEmitter::stmatrix(IrBuilder &, llvm::ArrayRef<llvm::Value *>, llvm::Value *, int64_t, bool) {
  llvm_unreachable("plans have no matrix accesses for this target");
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
