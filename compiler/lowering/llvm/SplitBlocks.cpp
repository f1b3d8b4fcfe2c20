// Splits large basic blocks before instruction selection.
// SPDX-License-Identifier: MIT
//
// LLVM selects a basic block's instructions as one graph and compares every pair of nodes that are ready to schedule;
// a comparison whose flags are live delays others, which are then tried again. Blocks of some thousand instructions,
// as unrolled loops make, take seconds, and minutes where many are comparisons.
#include "compiler/lowering/llvm/SplitBlocks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Pass.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid;

namespace {
class SplitBlocks : public llvm::FunctionPass {
public:
  static char ID;
  explicit SplitBlocks(unsigned most = 0) : FunctionPass(ID), most(most) {}
  llvm::StringRef getPassName() const override { return "Split large basic blocks"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::TargetTransformInfoWrapperPass>();
  }
  bool runOnFunction(llvm::Function &function) override;

private:
  bool split(llvm::BasicBlock &block, unsigned registerBits) const;

  unsigned most;
};
char SplitBlocks::ID = 0;
} // namespace

/// Registers that a value takes.
static unsigned registersOf(const llvm::Type *type, const llvm::DataLayout &layout, unsigned registerBits) {
  const bool isTile = type->isVectorTy() && registerBits != 0;
  return isTile
             ? llvm::divideCeil(layout.getTypeSizeInBits(const_cast<llvm::Type *>(type)).getFixedValue(), registerBits)
             : 1;
}

/// About the number of machine instructions that an instruction becomes.
static unsigned sizeOf(const llvm::Instruction &instruction, const llvm::DataLayout &layout, unsigned registerBits) {
  unsigned most = registersOf(instruction.getType(), layout, registerBits);
  for (const llvm::Value *operand : instruction.operand_values())
    most = std::max(most, registersOf(operand->getType(), layout, registerBits));
  return most;
}

/// Splits a block that is too large into parts of half as many instructions; the first part remains.
bool SplitBlocks::split(llvm::BasicBlock &block, unsigned registerBits) const {
  const llvm::DataLayout &layout = block.getDataLayout();
  unsigned size = 0;
  llvm::SmallVector<llvm::Instruction *> starts;
  for (llvm::Instruction &instruction : block) {
    const unsigned before = size;
    size += sizeOf(instruction, layout, registerBits);
    if (before / (most / 2) != size / (most / 2) && !llvm::isa<llvm::PHINode>(instruction))
      starts.push_back(&instruction);
  }
  if (size <= most)
    return false;
  for (llvm::Instruction *start : llvm::reverse(starts)) // what follows the last one moves once
    block.splitBasicBlock(start->getIterator());
  return !starts.empty();
}

bool SplitBlocks::runOnFunction(llvm::Function &function) {
  const auto &costs = getAnalysis<llvm::TargetTransformInfoWrapperPass>().getTTI(function);
  const unsigned registerBits =
      costs.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  bool hasSplit = false;
  for (llvm::BasicBlock &block : llvm::make_early_inc_range(function))
    hasSplit |= split(block, registerBits);
  return hasSplit;
}

llvm::FunctionPass *lowering::createSplitBlocksPass(unsigned most) { return new SplitBlocks(most); }
