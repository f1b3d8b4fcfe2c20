// Tests that values beyond the registers go to memory, and that functions with fewer stay as they are.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/SpillExcess.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

namespace nereid::lowering {
namespace {

struct Accesses {
  unsigned stores = 0, loads = 0, peakAfter = 0;
};

/// The accesses to spilled values, and the peak, after the pass.
Accesses spill(const std::string &text, SpillLimits limits) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  llvm::Function &function = *module->begin();
  spillExcess(function, nullptr, limits);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  Accesses accesses;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    accesses.stores += llvm::isa<llvm::StoreInst>(instruction) && instruction.isVolatile();
    accesses.loads += llvm::isa<llvm::LoadInst>(instruction) && instruction.isVolatile();
  }
  accesses.peakAfter = spillExcess(function, nullptr, {.excess = ~0u, .perBlock = 0});
  return accesses;
}

/// Loads all values, then stores them.
std::string copies(unsigned count, const std::string &type = "i32") {
  std::string loads, stores;
  for (unsigned i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    loads += "%v" + n + " = load " + type + ", ptr %p\n";
    stores += "store " + type + " %v" + n + ", ptr %p\n";
  }
  return "define void @f(ptr %p) {\n" + loads + stores + "ret void\n}\n";
}

TEST(SpillExcess, FunctionsUpToTheLimitStayAsTheyAre) {
  EXPECT_EQ(spill(copies(40), {.excess = 40, .perBlock = 8}).stores, 0u);
  EXPECT_EQ(spill(copies(20, "i64"), {.excess = 40, .perBlock = 8}).stores, 0u);
}

TEST(SpillExcess, ValuesBeyondTheKeptOnesGoToMemoryOnce) {
  const Accesses accesses = spill(copies(41), {.excess = 40, .perBlock = 8});
  EXPECT_EQ(accesses.stores, 33u);
  EXPECT_EQ(accesses.loads, 33u);
  EXPECT_LE(accesses.peakAfter, 10u) << "with the addresses of a load and a store";
}

TEST(SpillExcess, RegistersAreCountedByWords) {
  EXPECT_GT(spill(copies(21, "i64"), {.excess = 40, .perBlock = 8}).stores, 0u);
  EXPECT_LE(spill(copies(21, "<4 x float>"), {.excess = 40, .perBlock = 8}).peakAfter, 10u);
}

TEST(SpillExcess, SlotsAreOffsetsFromACopyOfTheAddress) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(copies(50), error, context);
  llvm::Function &function = *module->begin();
  spillExcess(function, nullptr, {.excess = 40, .perBlock = 8, .copyAddress = "", .copyConstraints = "=r,0"});
  unsigned copied = 0, stored = 0;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    copied += call && call->isInlineAsm();
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store && store->isVolatile())
      stored += llvm::isa<llvm::CallInst>(store->getPointerOperand()->stripInBoundsConstantOffsets());
  }
  EXPECT_EQ(copied, 1u);
  EXPECT_EQ(stored, 42u);
}

TEST(SpillExcess, PredicatesAreStoredAsBytes) {
  const Accesses accesses = spill(copies(50, "i1"), {.excess = 40, .perBlock = 8});
  EXPECT_EQ(accesses.stores, 42u);
}

TEST(SpillExcess, AccumulatorsOfALoopGoThroughMemory) {
  std::string phis, sums, stores;
  for (unsigned i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    phis += "%a" + n + " = phi i32 [ 0, %entry ], [ %s" + std::to_string((i + 1) % 50) + ", %loop ]\n";
    sums += "%s" + n + " = add i32 %a" + n + ", %k\n";
    stores += "store i32 %a" + n + ", ptr %p\nstore i32 %s" + n + ", ptr %p\n";
  }
  const Accesses accesses = spill("define void @f(ptr %p, i1 %c, i32 %k) {\nentry:\nbr label %loop\nloop:\n" + phis +
                                      sums + "br i1 %c, label %loop, label %end\nend:\n" + stores + "ret void\n}\n",
                                  {.excess = 40, .perBlock = 8});
  EXPECT_GE(accesses.stores, 100u);
  EXPECT_LE(accesses.peakAfter, 16u);
}

TEST(SpillExcess, AccumulatorsInFlightStayInRegisters) {
  std::string text = copies(50);
  const size_t end = text.find("ret void");
  text.insert(end, "%w = call float asm sideeffect \"wgmma.mma_async\", \"=f\"()\n"
                   "%d = call float asm sideeffect \"wgmma.wait_group\", \"=f,0\"(float %w)\n"
                   "store float %d, ptr %p\n");
  EXPECT_EQ(spill(text, {.excess = 40, .perBlock = 8}).stores, 42u);
}

} // namespace
} // namespace nereid::lowering
