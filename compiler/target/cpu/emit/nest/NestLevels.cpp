// Emits the loops of a nest, each at the end of the level around it.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/NestLevels.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

NestLevels::NestLevels(EmitContext &context, const Nest &nest)
    : context(context), ir(context.ir), nest(nest), levels(nest.order.size() + 1), depths(nest.shape.size(), 0) {
  for (auto [depth, dim] : llvm::enumerate(nest.order))
    depths[dim] = depth + 1;
  if (nest.vectorDim >= 0)
    vector = depths[nest.vectorDim];
}

unsigned NestLevels::of(const IndexMap &map) const {
  unsigned level = 0;
  for (int8_t loop : map)
    if (loop >= 0)
      level = std::max(level, depths[loop]);
  return level;
}

bool NestLevels::isDownwards(unsigned level) const {
  return level > 0 && static_cast<int>(nest.order[level - 1]) == nest.axis() &&
         llvm::any_of(nest.roots, [](const Root &root) {
           return root.traits && root.traits->isReverse && root.traits->isReverse(root.op);
         });
}

LogicalResult NestLevels::emitLoop(unsigned level, llvm::Value *begin, llvm::Value *end, unsigned step,
                                   llvm::function_ref<LogicalResult()> emitBody) {
  Level &outer = levels[level - 1];
  llvm::BasicBlock *before = outer.anchor->getParent();
  llvm::BasicBlock *after = before->splitBasicBlock(outer.anchor->getIterator(), "loop.end");
  llvm::Function *parent = before->getParent();
  llvm::BasicBlock *body = llvm::BasicBlock::Create(ir.getContext(), "loop", parent, after);
  llvm::BasicBlock *latch = llvm::BasicBlock::Create(ir.getContext(), "latch", parent, after);
  before->getTerminator()->eraseFromParent();
  ir.SetInsertPoint(before);
  restoreLocation();
  llvm::Instruction *sequel = outer.anchor;
  outer.anchor = ir.CreateCondBr(ir.CreateICmpSLT(begin, end), body, after);

  ir.SetInsertPoint(body);
  llvm::PHINode *index = ir.CreatePHI(ir.getInt64Ty(), 2, "i");
  Level &inner = levels[level];
  inner.index = index;
  inner.anchor = ir.CreateBr(latch);
  insertAt(level);
  if (isDownwards(level))
    inner.index = ir.CreateSub(ir.getInt64(nest.shape[nest.order[level - 1]] - step), index);
  LogicalResult result = emitBody();

  ir.SetInsertPoint(latch);
  restoreLocation();
  llvm::Value *following = ir.CreateAdd(index, ir.getInt64(step), "", /*HasNUW=*/true, /*HasNSW=*/true);
  ir.CreateCondBr(ir.CreateICmpSLT(following, end), body, after);
  index->addIncoming(begin, outer.anchor->getParent());
  index->addIncoming(following, latch);
  outer.anchor = sequel;
  insertAt(level - 1);
  return result;
}
