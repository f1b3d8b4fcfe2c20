// Tests that large basic blocks are split before instruction selection, and others are left alone.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/SplitBlocks.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include "gtest/gtest.h"

namespace nereid::lowering {
namespace {

/// The sizes of the blocks of a function of so many instructions, after the pass.
std::vector<size_t> sizesOf(unsigned instructions, unsigned most, unsigned lanes = 1) {
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  llvm::IRBuilder<> ir(context);
  llvm::Type *type = ir.getInt32Ty();
  if (lanes != 1)
    type = llvm::FixedVectorType::get(type, lanes);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false), llvm::Function::ExternalLinkage,
                                          "f", module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  llvm::Value *value = function->getArg(0);
  for (unsigned i = 1; i < instructions; ++i)
    value = ir.CreateAdd(value, function->getArg(0));
  ir.CreateRet(value);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetTransformInfoWrapperPass());
  passes.add(createSplitBlocksPass(most));
  passes.run(module);
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
  std::vector<size_t> sizes;
  for (const llvm::BasicBlock &block : *function)
    sizes.push_back(block.size());
  return sizes;
}

TEST(SplitBlocks, LargeBlocksBecomePartsOfHalfTheLimit) {
  const std::vector<size_t> sizes = sizesOf(10000, 1000);
  EXPECT_GE(sizes.size(), 20u);
  for (size_t size : sizes)
    EXPECT_LE(size, 501u);
}

TEST(SplitBlocks, BlocksUpToTheLimitStayWhole) {
  EXPECT_EQ(sizesOf(1000, 1000), (std::vector<size_t>{1000}));
  EXPECT_GT(sizesOf(1001, 1000).size(), 1u);
}

TEST(SplitBlocks, VectorsCountByTheirRegisters) {
  EXPECT_EQ(sizesOf(900, 1000).size(), 1u);
  EXPECT_GT(sizesOf(900, 1000, 64).size(), 1u); // without a target a vector register has 32 bits
}

} // namespace
} // namespace nereid::lowering
