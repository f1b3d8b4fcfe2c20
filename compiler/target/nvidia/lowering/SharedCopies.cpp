// Emits ldmatrix, stmatrix and asynchronous copies to shared memory; moves tiles by them.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"
#include "compiler/target/nvidia/lowering/PtxBuilder.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::lowering;

using llvm::Intrinsic::ID;

static ID ldmatrixIntrinsic(unsigned count, bool isTransposed) {
  switch (count) {
  case 1:
    return isTransposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16
                        : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16;
  case 2:
    return isTransposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                        : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
  default:
    return isTransposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                        : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
  }
}

llvm::SmallVector<llvm::Value *, 8> NvidiaEmitter::ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset,
                                                            unsigned count, bool isTransposed) {
  llvm::Value *all = ir.CreateIntrinsic(ldmatrixIntrinsic(count, isTransposed), {row->getType()},
                                        {offsetPointer(ir, row, byteOffset)});
  if (count == 1)
    return {all};
  llvm::SmallVector<llvm::Value *, 8> words;
  for (unsigned index = 0; index < count; ++index)
    words.push_back(ir.CreateExtractValue(all, index));
  return words;
}

void NvidiaEmitter::stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                             bool isTransposed) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(ir.CreatePtrToInt(offsetPointer(ir, row, byteOffset), ir.getInt32Ty()));
  std::string list;
  for (llvm::Value *word : words)
    list += (list.empty() ? "" : ", ") + assembly.input(word);
  auto results = assembly.emit("stmatrix.sync.aligned.m8n8.x" + std::to_string(words.size()) +
                                   (isTransposed ? ".trans" : "") + ".shared.b16 [" + at + "], {" + list + "};",
                               llvm::MemoryEffects::unknown());
  llvm::cast<llvm::CallInst>(results.front())->addFnAttr(llvm::Attribute::Convergent);
}

/// Copies of 16 bytes bypass L1, unless the cache modifier says otherwise. PTX ISA, cp.async: smaller copies always go
/// through it.
static bool bypassesL1(const AsyncCopy &copy) { return copy.bytes == 16 && copy.cache != tt::CacheModifier::CA; }

static ID cpAsyncIntrinsic(const AsyncCopy &copy) {
  const bool hasSize = copy.mask;
  if (copy.bytes == 4)
    return hasSize ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s
                   : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4;
  if (copy.bytes == 8)
    return hasSize ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s
                   : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8;
  if (bypassesL1(copy))
    return hasSize ? llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s
                   : llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16;
  return hasSize ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_16_s
                 : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_16;
}

/// PTX ISA, cp.async: the operand ignore-src requires version 7.5.
static constexpr unsigned kIgnoreSourcePtx = 75;

/// Writes zeros where the mask is false. LLVM has only the form with a size of the source, from which ptxas computes
/// the predicate again.
static void copyByPredicate(IrBuilder &ir, const AsyncCopy &copy) {
  PtxBuilder assembly(ir);
  const std::string target = addressText(assembly.input(copy.target), copy.targetOffset),
                    source = addressText(assembly.input(copy.source), copy.sourceOffset),
                    ignored = assembly.input(ir.CreateNot(copy.mask));
  assembly.emit("cp.async." + std::string(bypassesL1(copy) ? "cg" : "ca") + ".shared.global " + target + ", " + source +
                    ", " + std::to_string(copy.bytes) + ", " + ignored + ";",
                llvm::MemoryEffects::argMemOnly());
}

void NvidiaEmitter::copyAsync(IrBuilder &ir, const AsyncCopy &copy) {
  if (copy.mask && arch.ptxVersion >= kIgnoreSourcePtx)
    return copyByPredicate(ir, copy);
  llvm::SmallVector<llvm::Value *, 3> operands = {offsetPointer(ir, copy.target, copy.targetOffset),
                                                  offsetPointer(ir, copy.source, copy.sourceOffset)};
  if (copy.mask)
    operands.push_back(ir.CreateSelect(copy.mask, ir.getInt32(copy.bytes), ir.getInt32(0)));
  ir.CreateIntrinsic(cpAsyncIntrinsic(copy), {}, operands);
}

void NvidiaEmitter::commitCopies(IrBuilder &ir) {
  ir.CreateIntrinsic(ir.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_commit_group, {});
}

void NvidiaEmitter::waitForCopies(IrBuilder &ir, unsigned numPending) {
  if (numPending == 0)
    ir.CreateIntrinsic(ir.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_wait_all, {});
  else
    ir.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {}, {ir.getInt32(numPending)});
}

//--- tiles ---------------------------------------------------------------------------------

/// Tensor cores and TMA read such buffers.
void NvidiaEmitter::releaseStores(IrBuilder &ir, ttg::MemDescType buffer) {
  if (llvm::isa<ttg::NvmmaSharedAttr>(buffer.getEncoding()))
    fenceAsyncShared(ir);
}

bool NvidiaEmitter::loadTile(TtgFunctionEmitter &emitter, const BufferAddress &buffer, ttg::MemDescType type,
                             mlir::RankedTensorType tile, llvm::MutableArrayRef<llvm::Value *> registers) {
  if (!hasLdmatrix())
    return false;
  const auto plan = matrixPatternOf(tile, type);
  if (!plan)
    return false;
  emitter.loadShared(buffer, *plan, 0, tile.getElementType(), registers);
  return true;
}

/// Stores by stmatrix where that takes fewer instructions.
bool NvidiaEmitter::storeTile(TtgFunctionEmitter &emitter, const BufferAddress &buffer, ttg::MemDescType type,
                              mlir::RankedTensorType tile, llvm::ArrayRef<llvm::Value *> registers) {
  const layout::LinearLayout &held = ttg::linearLayoutOf(tile);
  const bool hasCopies = held.freeVariableMask(layout::kLane) || held.freeVariableMask(layout::kRegister);
  const unsigned bytes = elementBytesOf(type);
  if (!hasStmatrix() || bytes > 2 || hasCopies)
    return false;
  const auto plan = matrixPatternOf(tile, type);
  if (!plan || plan->accesses.size() >= accessPatternOf(tile, type).accesses.size())
    return false;
  emitter.storeShared(buffer, *plan, 0, registers);
  return true;
}
