// Emits branches and counted loops at the insert point of a builder.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/ControlFlow.h"

using namespace nereid;

llvm::Value *cpu::emitWhereOr(llvm::IRBuilder<> &ir, llvm::Value *condition, llvm::Value *other,
                              llvm::function_ref<llvm::Value *()> body) {
  llvm::BasicBlock *before = ir.GetInsertBlock(), *inside = nullptr;
  llvm::Value *value = nullptr;
  emitConditional(ir, condition, [&] {
    value = body();
    inside = ir.GetInsertBlock();
  });
  llvm::PHINode *result = ir.CreatePHI(value->getType(), 2);
  result->addIncoming(other, before);
  result->addIncoming(value, inside);
  return result;
}

llvm::BasicBlock *cpu::splitHere(llvm::IRBuilder<> &ir, const char *name) {
  llvm::BasicBlock *before = ir.GetInsertBlock();
  if (ir.GetInsertPoint() == before->end())
    return llvm::BasicBlock::Create(ir.getContext(), name, before->getParent());
  llvm::BasicBlock *after = before->splitBasicBlock(ir.GetInsertPoint(), name);
  before->getTerminator()->eraseFromParent();
  ir.SetInsertPoint(before);
  return after;
}

void cpu::emitCounted(llvm::IRBuilder<> &ir, int64_t end, int64_t step, llvm::function_ref<void(llvm::Value *)> body) {
  emitCounted(ir, end, nullptr, step, body);
}

void cpu::emitCounted(llvm::IRBuilder<> &ir, int64_t end, llvm::Value *limit, int64_t step,
                      llvm::function_ref<void(llvm::Value *)> body) {
  if (end <= step)
    return body(ir.getInt64(0));
  llvm::BasicBlock *before = ir.GetInsertBlock();
  llvm::Function *parent = before->getParent();
  auto *loop = llvm::BasicBlock::Create(ir.getContext(), "counted", parent);
  auto *after = llvm::BasicBlock::Create(ir.getContext(), "counted.end", parent);
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode *index = ir.CreatePHI(ir.getInt64Ty(), 2, "i");
  index->addIncoming(ir.getInt64(0), before);
  body(index);
  llvm::Value *next = ir.CreateAdd(index, ir.getInt64(step), "", true, true);
  index->addIncoming(next, ir.GetInsertBlock());
  llvm::Value *continues = ir.CreateICmpSLT(next, ir.getInt64(end));
  if (limit)
    continues = ir.CreateAnd(continues, ir.CreateICmpSLT(next, limit));
  ir.CreateCondBr(continues, loop, after);
  ir.SetInsertPoint(after);
}
