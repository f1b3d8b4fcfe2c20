// Emits code for each lane of a chunk, and code that runs under a condition.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/LaneLoop.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

void cpu::forEachLane(NestContext &context, llvm::Value *mask, llvm::function_ref<void(llvm::Value *)> body) {
  llvm::IRBuilder<> &ir = context.ir;
  const unsigned lanes = context.chunk.lanes;
  llvm::Instruction *anchor = &*ir.GetInsertPoint();
  llvm::BasicBlock *before = anchor->getParent();
  llvm::Value *all = llvm::ConstantInt::get(ir.getInt64Ty(), lanes == 64 ? ~0ull : (1ull << lanes) - 1);
  llvm::Value *bits = all;
  if (mask)
    bits = ir.CreateZExt(ir.CreateBitCast(mask, ir.getIntNTy(lanes)), ir.getInt64Ty());
  llvm::BasicBlock *after = before->splitBasicBlock(anchor->getIterator(), "lanes.end");
  llvm::BasicBlock *loop = llvm::BasicBlock::Create(ir.getContext(), "lanes", before->getParent(), after);
  before->getTerminator()->eraseFromParent();
  ir.SetInsertPoint(before);
  context.levels.restoreLocation();
  ir.CreateCondBr(ir.CreateICmpNE(bits, ir.getInt64(0)), loop, after);
  ir.SetInsertPoint(loop);
  llvm::PHINode *left = ir.CreatePHI(ir.getInt64Ty(), 2);
  left->addIncoming(bits, before);
  llvm::Value *lane = ir.CreateIntrinsic(llvm::Intrinsic::cttz, {ir.getInt64Ty()}, {left, ir.getTrue()});
  body(ir.CreateTrunc(lane, ir.getInt32Ty()));
  llvm::Value *rest = ir.CreateAnd(left, ir.CreateSub(left, ir.getInt64(1)));
  left->addIncoming(rest, ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateICmpNE(rest, ir.getInt64(0)), loop, after);
  ir.SetInsertPoint(anchor);
  context.levels.restoreLocation();
}

llvm::AllocaInst *cpu::spillLanes(NestContext &context, llvm::Value *vector) {
  llvm::AllocaInst *lanes = context.frame.local(vector->getType());
  context.ir.CreateStore(vector, lanes);
  return lanes;
}

llvm::Value *cpu::loadLane(llvm::IRBuilder<> &ir, llvm::AllocaInst *lanes, llvm::Value *lane) {
  llvm::Type *type = lanes->getAllocatedType()->getScalarType();
  return ir.CreateLoad(type, ir.CreateGEP(type, lanes, lane));
}

void cpu::emitWhere(NestContext &context, llvm::Value *condition, llvm::function_ref<void()> body, bool isRare) {
  if (auto *truth = dyn_cast<llvm::ConstantInt>(condition)) {
    if (truth->isOne())
      body();
    return;
  }
  llvm::IRBuilder<> &ir = context.ir;
  llvm::Instruction *anchor = &*ir.GetInsertPoint();
  llvm::MDNode *weights = isRare ? llvm::MDBuilder(ir.getContext()).createUnlikelyBranchWeights() : nullptr;
  llvm::Instruction *end =
      llvm::SplitBlockAndInsertIfThen(condition, anchor->getIterator(), /*Unreachable=*/false, weights);
  ir.SetInsertPoint(end);
  context.levels.restoreLocation();
  body();
  ir.SetInsertPoint(anchor);
  context.levels.restoreLocation();
}
