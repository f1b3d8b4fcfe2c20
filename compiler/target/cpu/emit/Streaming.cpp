// Has stores bypass the caches in a launch that writes more than the last-level cache holds, to pages that exist.
// SPDX-License-Identifier: MIT
//
// The first access to a page makes the system clear it, which leaves its lines in the cache. A store that bypasses the
// cache would wait until they are written back.
#include "compiler/target/cpu/emit/Streaming.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

void Streaming::begin() {
  const uint64_t bytes = context.plan.streamedBytes;
  if (bytes == 0)
    return;
  llvm::Value *programs = ir.getInt64(1);
  for (llvm::Value *size : context.program.gridSize)
    programs = ir.CreateMul(programs, ir.CreateZExt(size, ir.getInt64Ty()));
  isStreaming = ir.CreateICmpUGT(programs, ir.getInt64(context.machine.cacheBytes / bytes));
}

enum : uint8_t { kUnknown, kExists, kFresh };

/// bool pageExists(i1 isWanted, ptr state, ptr address): asks the system once for each state, about the page after the
/// address: the program before may have written to that of the address. A page counts as existing where the system does
/// not say.
static llvm::Function *pageExists(llvm::Module &module) {
  constexpr llvm::StringLiteral name = "nereid.page_exists";
  if (llvm::Function *existing = module.getFunction(name))
    return existing;
  llvm::IRBuilder<> ir(module.getContext());
  auto *type = llvm::FunctionType::get(ir.getInt1Ty(), {ir.getInt1Ty(), ir.getPtrTy(), ir.getPtrTy()}, false);
  llvm::Function *function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  auto block = [&](const char *label) { return llvm::BasicBlock::Create(ir.getContext(), label, function); };
  llvm::BasicBlock *entry = block("entry"), *wanted = block("wanted"), *ask = block("ask"), *known = block("known"),
                   *call = block("call"), *no = block("no");
  llvm::Value *state = function->getArg(1);
  ir.SetInsertPoint(entry);
  llvm::AllocaInst *flags = ir.CreateAlloca(ir.getInt8Ty());
  ir.CreateCondBr(function->getArg(0), wanted, no);
  ir.SetInsertPoint(no);
  ir.CreateRet(ir.getFalse());
  ir.SetInsertPoint(wanted);
  ir.CreateCondBr(ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), state), ir.getInt8(kUnknown)), ask, known);

  ir.SetInsertPoint(ask);
  constexpr int64_t pageBytes = 4096;
  llvm::Value *page = ir.CreateIntrinsic(
      llvm::Intrinsic::ptrmask, {ir.getPtrTy(), ir.getInt64Ty()},
      {ir.CreateConstGEP1_64(ir.getInt8Ty(), function->getArg(2), pageBytes), ir.getInt64(-pageBytes)});
  // A weak reference: programs without a C library have it null.
  auto *mincoreType = llvm::FunctionType::get(ir.getInt32Ty(), {ir.getPtrTy(), ir.getInt64Ty(), ir.getPtrTy()}, false);
  llvm::FunctionCallee mincore = module.getOrInsertFunction("mincore", mincoreType);
  cast<llvm::Function>(mincore.getCallee())->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  ir.CreateStore(ir.getInt8(kExists), state);
  ir.CreateCondBr(ir.CreateIsNotNull(mincore.getCallee()), call, known);

  ir.SetInsertPoint(call);
  llvm::Value *failed = ir.CreateIsNotNull(ir.CreateCall(mincore, {page, ir.getInt64(pageBytes), flags}));
  llvm::Value *isThere = ir.CreateTrunc(ir.CreateLoad(ir.getInt8Ty(), flags), ir.getInt1Ty());
  ir.CreateStore(ir.CreateSelect(ir.CreateOr(failed, isThere), ir.getInt8(kExists), ir.getInt8(kFresh)), state);
  ir.CreateBr(known);

  ir.SetInsertPoint(known);
  ir.CreateRet(ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), state), ir.getInt8(kExists)));
  return function;
}

llvm::Value *Streaming::reaches(llvm::Value *address, llvm::Value *isWanted) {
  llvm::AllocaInst *state = context.frame.local(ir.getInt8(kUnknown), "page");
  return ir.CreateCall(pageExists(context.frame.module()), {isWanted, state, address});
}

void Streaming::end() {
  if (needsFence) // other threads may read the stores as soon as this call has returned
    ir.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
}
