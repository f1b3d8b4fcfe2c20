// Tests the register counts of tiles against counts by hand.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/RegisterPressure.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

namespace {

/// The peak of a function with this body; `T` is a layout of 4 warps, 8 consecutive elements per thread.
unsigned peakOf(const std::string &body) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tt::TtDialect, ttg::TtgDialect, arith::ArithDialect, scf::SCFDialect>();
  const std::string text = R"(
#T = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f16>, %n: i32) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #T>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #T>
  %a = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>, #T>, tensor<1024xi32, #T>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #T>
  %b = tt.addptr %qs, %r : tensor<1024x!tt.ptr<f16>, #T>, tensor<1024xi32, #T>
)" + body + "\n  tt.return\n}\n}";
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return module ? analysis::peakRegisters(*module->getOps<tt::FuncOp>().begin()) : 0;
}

TEST(RegisterPressure, LoadedTilesCountAsInMemory) {
  EXPECT_EQ(peakOf("%x = tt.load %a : tensor<1024x!tt.ptr<f32>, #T>\n"
                   "tt.store %a, %x : tensor<1024x!tt.ptr<f32>, #T>"),
            8u);
  EXPECT_EQ(peakOf("%x = tt.load %b : tensor<1024x!tt.ptr<f16>, #T>\n"
                   "tt.store %b, %x : tensor<1024x!tt.ptr<f16>, #T>"),
            4u);
}

TEST(RegisterPressure, ElementwiseChainsTakeNoWholeTiles) {
  EXPECT_EQ(peakOf("%x = tt.load %a : tensor<1024x!tt.ptr<f32>, #T>\n"
                   "%y = arith.addf %x, %x : tensor<1024xf32, #T>\n"
                   "%z = arith.mulf %y, %x : tensor<1024xf32, #T>\n"
                   "tt.store %a, %z : tensor<1024x!tt.ptr<f32>, #T>"),
            8u);
}

TEST(RegisterPressure, TilesThatMeetAddUp) {
  EXPECT_EQ(peakOf("%x = tt.load %a : tensor<1024x!tt.ptr<f32>, #T>\n"
                   "%y = tt.load %b : tensor<1024x!tt.ptr<f16>, #T>\n"
                   "%w = arith.extf %y : tensor<1024xf16, #T> to tensor<1024xf32, #T>\n"
                   "%z = arith.mulf %w, %x : tensor<1024xf32, #T>\n"
                   "tt.store %a, %z : tensor<1024x!tt.ptr<f32>, #T>"),
            12u);
}

/// A 64 x 64 accumulator over 4 warps is 32 registers per thread, updated in place.
TEST(RegisterPressure, DotsAccumulateInPlace) {
  const std::string dot = R"(
%c = arith.constant dense<1.0> : tensor<64x64xf32, #M>
%k = tt.splat %f : f32 -> tensor<64x64xf32, #M>
%x = arith.addf %c, %k : tensor<64x64xf32, #M>
%d = tt.dot %l, %r, %x : tensor<64x16xf16, #L> * tensor<16x64xf16, #R> -> tensor<64x64xf32, #M>
)";
  auto peak = [](const std::string &body) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<tt::TtDialect, ttg::TtgDialect, arith::ArithDialect, scf::SCFDialect>();
    auto module = parseSourceString<ModuleOp>(R"(
#M = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#L = #ttg.dot_op<{opIdx = 0, parent = #M, kWidth = 2}>
#R = #ttg.dot_op<{opIdx = 1, parent = #M, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel(%f: f32, %l: tensor<64x16xf16, #L>, %r: tensor<16x64xf16, #R>) {)" +
                                                  body + "tt.return\n}\n}",
                                              &context);
    EXPECT_TRUE(module);
    return module ? analysis::peakRegisters(*module->getOps<tt::FuncOp>().begin()) : 0;
  };
  const unsigned operands = 4 + 16;
  EXPECT_EQ(peak(dot), 32u + operands);
  EXPECT_EQ(peak(dot + "%e = arith.addf %x, %d : tensor<64x64xf32, #M>\n"), 64u + operands);
}

TEST(RegisterPressure, LoopsKeepWhatTheyCarryAndWhatIsUsedBehind) {
  EXPECT_EQ(peakOf(R"(
  %before = tt.load %a : tensor<1024x!tt.ptr<f32>, #T>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32, #T>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<1024xf32, #T>) : i32 {
    %x = tt.load %b : tensor<1024x!tt.ptr<f16>, #T>
    %w = arith.extf %x : tensor<1024xf16, #T> to tensor<1024xf32, #T>
    %t = arith.addf %s, %w : tensor<1024xf32, #T>
    scf.yield %t : tensor<1024xf32, #T>
  }
  %z = arith.addf %sum, %before : tensor<1024xf32, #T>
  tt.store %a, %z : tensor<1024x!tt.ptr<f32>, #T>)"),
            20u); // the sum 8, `before` 8, the loaded tile 4
}

} // namespace
