// Splits the current basic block around code that only unusual arguments need.
// SPDX-License-Identifier: MIT

#include "compiler/math/Lanes.h"

#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/MDBuilder.h"

namespace nereid::math {

static llvm::Value *anyLane(llvm::IRBuilderBase &builder, llvm::Value *mask) {
  return mask->getType()->isVectorTy() ? builder.CreateOrReduce(mask) : mask;
}

llvm::BasicBlock *splitBlock(llvm::IRBuilderBase &builder, const char *name) {
  llvm::BasicBlock *head = builder.GetInsertBlock();
  llvm::BasicBlock *tail = llvm::BasicBlock::Create(head->getContext(), name, head->getParent());
  tail->moveAfter(head);
  tail->splice(tail->end(), head, builder.GetInsertPoint(), head->end());
  tail->replaceSuccessorsPhiUsesWith(head, tail);
  builder.SetInsertPoint(head);
  return tail;
}

ValueList emitRarePath(const Lanes &lanes, llvm::Value *needed, llvm::ArrayRef<llvm::Value *> common,
                       llvm::function_ref<ValueList()> rare) {
  llvm::IRBuilderBase &ir = lanes.builder();
  // A branch on poison is undefined; unused lanes may hold poison, and must not affect the condition.
  llvm::Value *isNeeded = anyLane(ir, ir.CreateFreeze(needed));
  llvm::BasicBlock *tail = splitBlock(ir, "math.end");
  llvm::BasicBlock *head = ir.GetInsertBlock();
  llvm::BasicBlock *detour = llvm::BasicBlock::Create(head->getContext(), "math.rare", head->getParent(), tail);
  ir.CreateCondBr(isNeeded, detour, tail, llvm::MDBuilder(head->getContext()).createUnlikelyBranchWeights());

  ir.SetInsertPoint(detour);
  const ValueList replaced = rare();
  ir.CreateBr(tail);

  ir.SetInsertPoint(tail, tail->begin());
  ValueList merged;
  for (const auto [usual, unusual] : llvm::zip_equal(common, replaced)) {
    llvm::PHINode *either = ir.CreatePHI(usual->getType(), 2);
    either->addIncoming(usual, head);
    either->addIncoming(unusual, detour);
    merged.push_back(either);
  }
  return merged;
}

} // namespace nereid::math
