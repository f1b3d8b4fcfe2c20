// Checks the bounds of floats, and that functions of bounded arguments have no code for unusual ones.
// SPDX-License-Identifier: MIT

#include "compiler/math/FloatRange.h"
#include "compiler/math/Math.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include "gtest/gtest.h"

#include <cmath>

namespace nereid::math {
namespace {

/// A function of an i32 and an f32 to emit into.
class FloatRangeTest : public ::testing::Test {
protected:
  FloatRangeTest() {
    llvm::Type *type = llvm::Type::getFloatTy(context);
    function = llvm::Function::Create(llvm::FunctionType::get(type, {builder.getInt32Ty(), type}, false),
                                      llvm::Function::ExternalLinkage, "f", module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  }

  llvm::Value *unknownInt() { return function->getArg(0); }
  llvm::Value *unknownFloat() { return function->getArg(1); }
  llvm::Value *constant(double value) { return llvm::ConstantFP::get(builder.getFloatTy(), value); }
  /// In [-1, 1].
  llvm::Value *fraction() {
    return builder.CreateFMul(builder.CreateSIToFP(unknownInt(), builder.getFloatTy()), constant(0x1p-31));
  }
  size_t basicBlocks() { return function->size(); }

  llvm::LLVMContext context;
  llvm::Module module{"test", context};
  llvm::IRBuilder<> builder{context};
  llvm::Function *function = nullptr;
};

TEST_F(FloatRangeTest, ScaledIntegersAreBounded) {
  const FloatRange range = floatRange(builder.CreateFMul(fraction(), constant(-6)));
  EXPECT_FALSE(range.maybeNan);
  EXPECT_LE(range.low, -6);
  EXPECT_GE(range.high, 6);
  EXPECT_NEAR(range.low, -6, 1e-4);
  EXPECT_NEAR(range.high, 6, 1e-4);
}

TEST_F(FloatRangeTest, ArgumentsMayBeAnything) {
  const FloatRange range = floatRange(builder.CreateFAdd(unknownFloat(), constant(1)));
  EXPECT_TRUE(range.maybeNan);
  EXPECT_EQ(range.high, INFINITY);
  EXPECT_EQ(range.low, -INFINITY);
}

TEST_F(FloatRangeTest, TheLargerIsNoNanIfOneIsNone) {
  const FloatRange range =
      floatRange(builder.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, unknownFloat(), constant(2)));
  EXPECT_FALSE(range.maybeNan);
  EXPECT_EQ(range.low, 2);
  EXPECT_EQ(range.high, INFINITY);
}

TEST_F(FloatRangeTest, ANumberReplacesNanBelowTheOther) {
  // maxnum of 3 and NaN is 3; of 1 and what is at least 2 or NaN, 1.
  llvm::Value *atLeast2 = builder.CreateFAdd(
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, unknownFloat(), constant(2)), unknownFloat());
  EXPECT_EQ(floatRange(builder.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, atLeast2, constant(1))).low, 1);
}

TEST_F(FloatRangeTest, ProductsMayOverflow) {
  llvm::Value *large = builder.CreateFMul(fraction(), constant(1e30));
  const FloatRange square = floatRange(builder.CreateFMul(large, large));
  EXPECT_EQ(square.high, INFINITY);
  EXPECT_TRUE(floatRange(builder.CreateFSub(builder.CreateFMul(large, large), large)).maybeNan);
}

TEST_F(FloatRangeTest, DenormalsMayBecomeZero) {
  llvm::Value *small = builder.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, fraction(), constant(1e-30));
  EXPECT_EQ(floatRange(builder.CreateFMul(small, constant(1e-10))).low, 0);
}

TEST_F(FloatRangeTest, BoundedAnglesNeedNoBranch) {
  builder.CreateRet(emitCos(builder, builder.CreateFMul(fraction(), constant(6.3)), {.hasFma = true}));
  EXPECT_EQ(basicBlocks(), 1u);
}

TEST_F(FloatRangeTest, OtherAnglesNeedABranch) {
  builder.CreateRet(emitCos(builder, builder.CreateFMul(fraction(), constant(2e6)), {.hasFma = true}));
  EXPECT_GT(basicBlocks(), 1u);
}

TEST_F(FloatRangeTest, LogarithmsOfNormalNumbersNeedNoBranch) {
  llvm::Value *positive = builder.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, constant(1e-7), fraction());
  builder.CreateRet(emitLog(builder, positive, {.hasFma = true}));
  EXPECT_EQ(basicBlocks(), 1u);
}

TEST_F(FloatRangeTest, LogarithmsOfFractionsNeedABranch) {
  builder.CreateRet(emitLog(builder, fraction(), {.hasFma = true}));
  EXPECT_GT(basicBlocks(), 1u);
}

} // namespace
} // namespace nereid::math
