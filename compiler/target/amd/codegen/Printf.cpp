// Turns calls of printf into writes to the buffer that the HIP runtime prints when a kernel has ended.
// SPDX-License-Identifier: MIT
//
// LLVM's pass formats the records and describes the formats in the code object; it leaves the allocation of a record to
// a library, whose one function is built here. ("User Guide for AMDGPU Backend", hidden_printf_buffer.)
#include "compiler/target/amd/codegen/Codegen.h"

#include "compiler/lowering/llvm/LlvmPasses.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;

/// Code object v5: the offset of the buffer's address in the implicit arguments.
static constexpr unsigned kPrintfBufferOffset = 72;
/// The buffer begins with the number of bytes in use and the number that there are.
static constexpr unsigned kHeaderBytes = 8;

/// Defines the function that reserves bytes of the buffer: their address, or null where it is full.
static void defineAllocation(llvm::Function &function) {
  llvm::LLVMContext &context = function.getContext();
  function.setLinkage(llvm::Function::InternalLinkage);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", &function));
  auto *retry = llvm::BasicBlock::Create(context, "retry", &function);
  auto *room = llvm::BasicBlock::Create(context, "room", &function);
  auto *done = llvm::BasicBlock::Create(context, "done", &function);
  auto *full = llvm::BasicBlock::Create(context, "full", &function);
  llvm::Value *hidden = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_implicitarg_ptr, llvm::ArrayRef<llvm::Value *>());
  llvm::Value *buffer = ir.CreateAlignedLoad(
      ir.getPtrTy(1), ir.CreateConstGEP1_32(ir.getInt8Ty(), hidden, kPrintfBufferOffset), llvm::Align(8));
  llvm::Value *size =
      ir.CreateAlignedLoad(ir.getInt32Ty(), ir.CreateConstGEP1_32(ir.getInt8Ty(), buffer, 4), llvm::Align(4));
  llvm::LoadInst *first = ir.CreateAlignedLoad(ir.getInt32Ty(), buffer, llvm::Align(4));
  const auto scope = context.getOrInsertSyncScopeID("agent");
  first->setAtomic(llvm::AtomicOrdering::Monotonic, scope);
  ir.CreateBr(retry);
  ir.SetInsertPoint(retry);
  llvm::PHINode *used = ir.CreatePHI(ir.getInt32Ty(), 2);
  used->addIncoming(first, &function.getEntryBlock());
  llvm::Value *next = ir.CreateAdd(used, function.getArg(0));
  ir.CreateCondBr(ir.CreateICmpUGT(next, size), full, room);
  ir.SetInsertPoint(room);
  llvm::Value *swapped = ir.CreateAtomicCmpXchg(buffer, used, next, llvm::Align(4), llvm::AtomicOrdering::Monotonic,
                                                llvm::AtomicOrdering::Monotonic, scope);
  used->addIncoming(ir.CreateExtractValue(swapped, 0), room);
  ir.CreateCondBr(ir.CreateExtractValue(swapped, 1), done, retry);
  ir.SetInsertPoint(done);
  ir.CreateRet(ir.CreatePtrAdd(buffer, ir.CreateAdd(ir.CreateZExt(used, ir.getInt64Ty()), ir.getInt64(kHeaderBytes))));
  ir.SetInsertPoint(full);
  ir.CreateRet(llvm::ConstantPointerNull::get(ir.getPtrTy(1)));
}

llvm::Error amd::lowerPrintf(llvm::Module &module, llvm::TargetMachine &machine) {
  if (!module.getFunction("printf"))
    return llvm::Error::success();
  if (llvm::Error error = lowering::runModulePass(module, machine, "amdgpu-printf-runtime-binding"))
    return error;
  if (llvm::Function *allocation = module.getFunction("__printf_alloc"); allocation && allocation->isDeclaration())
    defineAllocation(*allocation);
  return llvm::Error::success();
}
