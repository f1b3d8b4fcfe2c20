// Emits the call by which a program that waits for others lets them run.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/AmxEmitter.h"
#include "compiler/target/cpu/emit/KernelEmitter.h"
#include "compiler/target/cpu/plan/WaitLoops.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Tells the loader of the kernel that its programs may wait; runtime/cpu/HostCalls.h.
static void declareWaits(llvm::Module &module) {
  constexpr llvm::StringLiteral name = "nereid_waits";
  if (module.getNamedGlobal(name))
    return;
  auto *isTrue = llvm::ConstantInt::get(llvm::Type::getInt8Ty(module.getContext()), 1);
  auto *variable = new llvm::GlobalVariable(module, isTrue->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, isTrue, name);
  variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
}

/// Without a host, the program goes on alone.
void KernelEmitter::letOthersRun(HostCall call, ArrayRef<llvm::Value *> arguments) {
  llvm::Value *host = hostCall(call);
  llvm::BasicBlock *hosted = newBlock("wait"), *resumed = newBlock("wait.resumed"), *after = newBlock("waited");
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, after);
  ir.SetInsertPoint(hosted);
  SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : arguments)
    types.push_back(argument->getType());
  const bool mayEnd = call == HostCall::Wait;
  auto *type = llvm::FunctionType::get(mayEnd ? ir.getInt8Ty() : ir.getVoidTy(), types, false);
  llvm::CallInst *goesOn = ir.CreateCall(type, host, arguments);
  mayEnd ? ir.CreateCondBr(ir.CreateIsNotNull(goesOn), resumed, programsDone) : ir.CreateBr(resumed);
  ir.SetInsertPoint(resumed);
  if (usesTiles(plan)) // other programs of the thread have ended theirs
    emitBeginOfTiles(ir);
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}

void KernelEmitter::emitWait(scf::WhileOp loop, llvm::Value *isFirst) {
  declareWaits(*function->getParent());
  llvm::Constant *fields[] = {ir.getInt32(static_cast<uint32_t>(*waitKind(loop))),
                              ir.CreateGlobalString(userLocation(loop.getLoc()))};
  letOthersRun(HostCall::Wait, {constantGlobal(llvm::ConstantStruct::getAnon(fields)), isFirst});
}

/// Of the programs that wait for each other, all may have to execute such an operation before one executes the next.
void KernelEmitter::emitArrival(Operation *atomic) {
  if (mayWait && loopDepth == 0 && !atomic->use_empty())
    letOthersRun(HostCall::Arrive, {});
}
