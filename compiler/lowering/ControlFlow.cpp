// Emits branches at the insert point of a builder.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/ControlFlow.h"

using namespace nereid;

void lowering::emitConditional(llvm::IRBuilder<> &ir, llvm::Value *condition, llvm::function_ref<void()> body) {
  llvm::Function *parent = ir.GetInsertBlock()->getParent();
  auto *inside = llvm::BasicBlock::Create(ir.getContext(), "if", parent);
  auto *after = llvm::BasicBlock::Create(ir.getContext(), "if.end", parent);
  ir.CreateCondBr(condition, inside, after);
  ir.SetInsertPoint(inside);
  body();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}
