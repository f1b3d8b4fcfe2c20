// Emits atomic accesses to global memory, each element once even where several threads hold copies of it.
// SPDX-License-Identifier: MIT
//
// One of the threads that hold an element accesses memory; the others receive the result by a shuffle or, across warps,
// through shared memory. For a scalar it is the CTA's first thread.
#include "artifact/ElementType.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/OwnersResults.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Extents.h"
#include "compiler/lowering/AtomicForms.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

namespace {

/// The accesses of one op.
class AtomicEmitter {
public:
  AtomicEmitter(TtgFunctionEmitter &emitter, Operation *op)
      : emitter(emitter), ir(emitter.ir), op(op), combine(dyn_cast<tt::AtomicRMWOp>(op)),
        access(*analysis::atomicAccessOf(op)) {}
  LogicalResult run();

private:
  llvm::Value *accessOnce(const AtomicAccess &one);
  llvm::Value *accessByLlvm(const AtomicAccess &one);
  AtomicAccess accessAt(unsigned index, llvm::Value *value);
  llvm::Value *valueAt(unsigned index);
  Tile vectorAt(unsigned first, unsigned count);
  unsigned vectorSize();
  void fenceOnce(bool isBefore);
  void shareScalar(Tile &result);

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  Operation *op;
  tt::AtomicRMWOp combine; ///< null: a load, store or compare-and-swap
  analysis::MemoryAccess access;
  llvm::Value *isOwner = nullptr;
  bool isFenced = false; ///< fences around all of the thread's accesses order them
};

} // namespace

//--- one access ----------------------------------------------------------------------------

/// Accesses memory in a branch on the mask; LLVM emits a loop where the machine has no instruction.
llvm::Value *AtomicEmitter::accessByLlvm(const AtomicAccess &one) {
  llvm::Type *type = one.value->getType();
  llvm::BasicBlock *before = ir.GetInsertBlock(), *after = emitter.newBlock("atomic.end");
  if (one.mask) {
    llvm::BasicBlock *active = emitter.newBlock("atomic");
    ir.CreateCondBr(one.mask, active, after);
    ir.SetInsertPoint(active);
  }
  llvm::Value *pointer = one.byteOffset ? ir.CreatePtrAdd(one.pointer, ir.getInt64(one.byteOffset)) : one.pointer;
  const llvm::Align align(artifact::bytesOfBits(type->getPrimitiveSizeInBits()));
  const llvm::AtomicOrdering ordering = orderingOf(one.semantic);
  const auto scope = ir.getContext().getOrInsertSyncScopeID(emitter.target.scopeName(one.scope));
  llvm::Value *old;
  if (one.isLoad) {
    llvm::LoadInst *load = ir.CreateAlignedLoad(type, pointer, align);
    load->setAtomic(ordering, scope);
    old = load;
  } else if (one.isStore) {
    ir.CreateAlignedStore(one.value, pointer, align)->setAtomic(ordering, scope);
    old = llvm::PoisonValue::get(type);
  } else if (one.op) {
    llvm::AtomicRMWInst *combined =
        ir.CreateAtomicRMW(atomicOperationOf(*one.op), pointer, one.value, align, ordering, scope);
    emitter.target.markAtomic(*combined);
    old = combined;
  } else {
    llvm::Type *bits = ir.getIntNTy(type->getPrimitiveSizeInBits());
    llvm::Value *swapped =
        ir.CreateAtomicCmpXchg(pointer, ir.CreateBitCast(one.compared, bits), ir.CreateBitCast(one.value, bits), align,
                               ordering, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering), scope);
    old = ir.CreateBitCast(ir.CreateExtractValue(swapped, 0), type);
  }
  llvm::BasicBlock *end = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  if (!one.mask || one.isStore)
    return old;
  llvm::PHINode *result = ir.CreatePHI(type, 2);
  result->addIncoming(llvm::Constant::getNullValue(type), before);
  result->addIncoming(old, end);
  return result;
}

llvm::Value *AtomicEmitter::accessOnce(const AtomicAccess &one) {
  if (auto *constant = dyn_cast_or_null<llvm::ConstantInt>(one.mask); constant && constant->isZero())
    return llvm::Constant::getNullValue(one.value->getType());
  llvm::Value *byInstruction = emitter.target.atomicGlobal(ir, one);
  return byInstruction ? byInstruction : accessByLlvm(one);
}

AtomicAccess AtomicEmitter::accessAt(unsigned index, llvm::Value *value) {
  const BaseOffset pointer = emitter.baseOffsets.of(emitter.tile(access.pointer)[index]);
  AtomicAccess one;
  one.pointer = pointer.base;
  one.byteOffset = pointer.offset;
  one.value = value;
  one.isUsed = !op->use_empty();
  llvm::Value *mask = access.mask ? emitter.tile(access.mask)[index] : nullptr;
  if (auto *constant = dyn_cast_or_null<llvm::ConstantInt>(mask); constant && constant->isOne())
    mask = nullptr;
  for (llvm::Value *condition : {isOwner, emitter.existsInTile(op, /*operand=*/0, index)})
    if (condition)
      mask = mask ? ir.CreateAnd(mask, condition) : condition;
  one.mask = mask;
  if (combine) {
    one.op = combine.getAtomicRmwOp();
    one.semantic = isFenced ? tt::MemSemantic::RELAXED : combine.getSem();
    one.scope = combine.getScope();
  } else if (auto load = dyn_cast<tt::AtomicLoadOp>(op)) {
    one.isLoad = true;
    one.semantic = load.getSem();
    one.scope = load.getScope();
  } else if (auto store = dyn_cast<tt::AtomicStoreOp>(op)) {
    one.isStore = true;
    one.semantic = store.getSem();
    one.scope = store.getScope();
  } else {
    auto swap = cast<tt::AtomicCASOp>(op);
    one.compared = emitter.tile(swap.getCmp())[index];
    one.semantic = swap.getSem();
    one.scope = swap.getScope();
  }
  return one;
}

/// The operand of the access. Loads and stores move bits.
llvm::Value *AtomicEmitter::valueAt(unsigned index) {
  llvm::Type *bits = ir.getIntNTy(access.elementBits);
  if (isa<tt::AtomicLoadOp>(op))
    return llvm::PoisonValue::get(bits);
  llvm::Value *value = emitter.tile(access.value)[index];
  return isa<tt::AtomicStoreOp>(op) ? ir.CreateBitCast(emitter.elements.toMemory(value), bits) : value;
}

/// `count` adjacent elements from `first` on.
Tile AtomicEmitter::vectorAt(unsigned first, unsigned count) {
  if (count == 1) {
    llvm::Value *before = accessOnce(accessAt(first, valueAt(first)));
    if (!isa<tt::AtomicLoadOp>(op))
      return {before};
    const Type element = tt::elementOf(op->getResult(0).getType());
    return {emitter.elements.fromMemory(ir.CreateBitCast(before, emitter.elements.memoryType(element)), element)};
  }
  const Tile &values = emitter.tile(access.value);
  llvm::Value *vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(values[first]->getType(), count));
  for (unsigned part = 0; part < count; ++part)
    vector = ir.CreateInsertElement(vector, values[first + part], uint64_t{part});
  Tile results;
  if (llvm::Value *old = emitter.target.atomicGlobal(ir, accessAt(first, vector))) {
    for (unsigned part = 0; part < count; ++part)
      results.push_back(ir.CreateExtractElement(old, uint64_t{part}));
    return results;
  }
  for (unsigned half : {0u, count / 2})
    llvm::append_range(results, vectorAt(first + half, count / 2));
  return results;
}

/// The number of adjacent elements per access. A vector never mixes elements that exist with elements that do not.
unsigned AtomicEmitter::vectorSize() {
  int64_t elems = analysis::vectorElems(access, emitter.module.axes);
  if (op->hasAttr(tt::kExtents))
    for (int64_t extent : tt::existingExtents(op, /*operand=*/0))
      elems = std::min(elems, extent & -extent);
  return elems;
}

//--- results of other threads --------------------------------------------------------------

void AtomicEmitter::shareScalar(Tile &result) {
  if (!emitter.module.shared.offsetOf.contains(op)) { // one warp
    result.front() = emitter.wordwise(
        result.front(), [&](llvm::Value *word) { return emitter.target.shuffleIndex(ir, word, ir.getInt32(0)); });
    return;
  }
  llvm::Value *scratch = emitter.sharedScratch(op);
  emitter.target.storeShared(ir, emitter.pack(result), scratch, 0, isOwner);
  emitter.barrier();
  result.front() = ir.CreateLoad(result.front()->getType(), scratch);
}

static void shareThroughMemory(TtgFunctionEmitter &emitter, Operation *op, RankedTensorType type, Tile &result) {
  const Type element = type.getElementType();
  const layout::SharedPlan plan = layout::planCopies(ttg::linearLayoutOf(type), analysis::memoryBits(element));
  llvm::Value *buffer = emitter.sharedScratch(op);
  Tile loaded(result.size(), nullptr);
  emitter.storeShared(buffer, plan.store, 0, result);
  emitter.barrier();
  emitter.loadShared(buffer, plan.load, 0, element, loaded);
  for (unsigned index = 0; index < result.size(); ++index)
    result[index] = loaded[plan.loadedAs[index]];
}

void lowering::shareOwnersResults(TtgFunctionEmitter &emitter, Operation *op, RankedTensorType type, Tile &result) {
  if (emitter.module.shared.offsetOf.contains(op))
    return shareThroughMemory(emitter, op, type, result);
  const LinearLayout &layout = ttg::linearLayoutOf(type);
  const uint32_t copies = layout.freeVariableMask(layout::kLane), registerCopies = copyMask(type);
  if (copies == 0)
    return;
  SmallVector<uint32_t> owners;
  for (unsigned bit = 0; bit < layout.inBits(layout::kLane); ++bit)
    owners.push_back(copies >> bit & 1 ? 0 : 1u << bit);
  llvm::Value *lane = emitter.threadBits(owners, {});
  for (unsigned index = 0; index < result.size(); ++index)
    result[index] = index & registerCopies ? result[index & ~registerCopies]
                                           : emitter.wordwise(result[index], [&](llvm::Value *word) {
                                               return emitter.target.shuffleIndex(emitter.ir, word, lane);
                                             });
}

//--- emission ------------------------------------------------------------------------------

/// A relaxed access with a fence before it releases, with a fence after it acquires. An unused result cannot tell that
/// other threads have released. (PTX ISA, release and acquire patterns.)
void AtomicEmitter::fenceOnce(bool isBefore) {
  if (!isFenced)
    return;
  const tt::MemSemantic semantic = combine.getSem();
  const bool isBoth = semantic == tt::MemSemantic::ACQUIRE_RELEASE;
  const bool isNeeded = isBefore ? isBoth || semantic == tt::MemSemantic::RELEASE
                                 : !op->use_empty() && (isBoth || semantic == tt::MemSemantic::ACQUIRE);
  if (isNeeded)
    ir.CreateFence(isBefore ? llvm::AtomicOrdering::Release : llvm::AtomicOrdering::Acquire,
                   ir.getContext().getOrInsertSyncScopeID(emitter.target.scopeName(combine.getScope())));
}

LogicalResult AtomicEmitter::run() {
  const bool isTile = isa<RankedTensorType>(access.pointer.getType());
  isOwner = emitter.ownerOf(access.pointer.getType());
  const unsigned count = numRegisters(access.pointer.getType());
  const unsigned elems = vectorSize();
  const uint32_t copies = copyMask(access.pointer.getType());
  Tile result(count, nullptr);
  isFenced = combine && (count >> llvm::popcount(copies)) > elems;
  fenceOnce(/*isBefore=*/true);
  for (unsigned first = 0; first < count; first += elems) {
    if (unsigned original = first & ~copies; original != first)
      std::copy_n(result.begin() + original, elems, result.begin() + first);
    else
      llvm::copy(vectorAt(first, elems), result.begin() + first);
  }
  fenceOnce(/*isBefore=*/false);
  if (op->getNumResults() == 0)
    return success();
  if (!op->use_empty() && isTile)
    shareOwnersResults(emitter, op, cast<RankedTensorType>(op->getResult(0).getType()), result);
  else if (!op->use_empty())
    shareScalar(result);
  emitter.define(op->getResult(0), std::move(result));
  return success();
}

static LogicalResult emitAtomic(TtgFunctionEmitter &emitter, Operation *op) { return AtomicEmitter(emitter, op).run(); }

void lowering::addAtomicEmitters(OpEmitters &table) {
  table.add<emitAtomic, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicStoreOp>();
}
