// Emits the checks of a sanitizer: the runtime tests the values and returns whether the program may go on.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/KernelEmitter.h"

#include "compiler/dialect/check/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The size in bytes of what the first value points to; 0 where it is no pointer.
static uint64_t bytesAfter(check::ValuesOp op) {
  auto pointer = dyn_cast<tt::PointerType>(tt::elementOf(op.getValues().front().getType()));
  return pointer ? storageBytes(pointer.getPointee()) : 0;
}

/// A CheckSite as runtime/cpu/HostCalls.h declares it.
llvm::Constant *KernelEmitter::checkSite(check::ValuesOp op) {
  const SmallVector<int32_t> isSigned(op.getValues().size(), !op.getIsUnsigned());
  const std::string text = checkText ? checkText(op) : "{found}";
  llvm::Constant *fields[] = {ir.getInt32(static_cast<uint32_t>(op.getKind())),
                              ir.getInt32(op.getArgument()),
                              ir.getInt32(op.getAxis()),
                              ir.getInt32(op.getHasMask()),
                              ir.getInt32(bytesAfter(op)),
                              ir.getInt32(op.getValues().size()),
                              typesOf(op.getValues(), isSigned),
                              ir.CreateGlobalString(op.getWhat()),
                              ir.CreateGlobalString(text)};
  return constantGlobal(llvm::ConstantStruct::getAnon(fields));
}

/// Emits nothing where the host has no function for checks.
void KernelEmitter::emitCheck(check::ValuesOp op) {
  llvm::Value *addresses = addressesOf(op, op.getValues()), *ids = programIds();
  llvm::Value *host = hostCall(HostCall::Check);
  llvm::BasicBlock *hosted = newBlock("check"), *after = newBlock("checked");
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, after);
  ir.SetInsertPoint(hosted);
  auto *type = llvm::FunctionType::get(ir.getInt8Ty(), {ir.getPtrTy(), ir.getPtrTy(), ir.getPtrTy()}, false);
  llvm::CallInst *holds = ir.CreateCall(type, host, {checkSite(op), ids, addresses});
  ir.CreateCondBr(ir.CreateIsNotNull(holds), after, programsDone);
  ir.SetInsertPoint(after);
}
