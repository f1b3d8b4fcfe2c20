// Tests the order in which CTAs run several programs, by running it, and what it follows.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/SimtHost.h"

#include "compiler/driver/Compiler.h"
#include "compiler/target/nvidia/passes/warps/ProgramLoop.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace nereid;
using nvidia::LengthTrend;

namespace {

tt::FuncOp kernelOf(ModuleOp module) { return *module.getOps<tt::FuncOp>().begin(); }

/// Adds one to %runs at the program's number in the grid, and stores the CTA's number to %ctas there. The loop becomes
/// that over programs.
const char *const kKernel = R"(
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel(%runs: !tt.ptr<i32>, %ctas: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %cta = tt.get_program_id x : i32
  scf.for %round = %c0 to %c1 step %c1 : i32 {
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %width = tt.get_num_programs x : i32
    %height = tt.get_num_programs y : i32
    %planes = arith.muli %z, %height : i32
    %row = arith.addi %planes, %y : i32
    %rows = arith.muli %row, %width : i32
    %program = arith.addi %rows, %x : i32
    %ofRuns = tt.addptr %runs, %program : !tt.ptr<i32>, i32
    %before = tt.load %ofRuns : !tt.ptr<i32>
    %after = arith.addi %before, %c1 : i32
    tt.store %ofRuns, %after : !tt.ptr<i32>
    %ofCtas = tt.addptr %ctas, %program : !tt.ptr<i32>, i32
    tt.store %ofCtas, %cta : !tt.ptr<i32>
  }
  tt.return
}
})";

std::string recordingKernel(LengthTrend trend) {
  const auto context = driver::createContext();
  auto module = parseSourceString<ModuleOp>(kKernel, context.get());
  tt::FuncOp kernel = kernelOf(*module);
  auto program = *kernel.getBody().front().getOps<scf::ForOp>().begin();
  nvidia::ProgramLoop programs(kernel, trend);
  IRRewriter rewriter(context.get());
  rewriter.setInsertionPoint(program);
  scf::ForOp loop = programs.create(rewriter, {});
  loop.getBody()->getOperations().splice(loop.getBody()->end(), program.getBody()->getOperations());
  rewriter.eraseOp(program);
  programs.useIndices(loop, rewriter);
  EXPECT_TRUE(succeeded(verify(*module)));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
  uint32_t count() const { return x * y * z; }
};

/// The CTA of each program; empty where one runs never or twice.
std::vector<int32_t> ctasOf(const simt::SimtKernel &kernel, Grid grid, uint32_t numCtas) {
  std::vector<int32_t> runs(grid.count()), ctas(grid.count(), -1);
  simt::Arguments arguments;
  arguments.add(runs.data()).add(ctas.data()).add(grid.x).add(grid.y).add(grid.z).add<void *>(nullptr);
  const bool ends = kernel.run({numCtas, 1, 1}, arguments);
  return ends && std::count(runs.begin(), runs.end(), 1) == grid.count() ? ctas : std::vector<int32_t>();
}

class ProgramOrder : public testing::TestWithParam<LengthTrend> {
protected:
  void SetUp() override {
    std::string error;
    kernel = simt::SimtKernel::compile(recordingKernel(GetParam()), 1, &error);
    ASSERT_TRUE(kernel) << error;
  }
  std::unique_ptr<simt::SimtKernel> kernel;
};

INSTANTIATE_TEST_SUITE_P(, ProgramOrder, testing::Values(LengthTrend::Equal, LengthTrend::Grows, LengthTrend::Shrinks));

class ProgramOrderByLength : public ProgramOrder {};
INSTANTIATE_TEST_SUITE_P(, ProgramOrderByLength, testing::Values(LengthTrend::Grows, LengthTrend::Shrinks));

TEST_P(ProgramOrder, EveryProgramRunsOnce) {
  for (Grid grid : {Grid{1, 1, 1}, Grid{7, 1, 1}, Grid{8, 5, 3}, Grid{32, 20, 1}, Grid{3, 50, 2}, Grid{200, 1, 3}})
    for (uint32_t numCtas : {1u, 6u, 13u})
      EXPECT_EQ(ctasOf(*kernel, grid, numCtas).size(), grid.count())
          << llvm::formatv("{0} x {1} x {2}, {3} CTAs", grid.x, grid.y, grid.z, numCtas).str();
}

/// The most work of a CTA over the mean, where a program's work is one more than its index along x, or where it falls.
double imbalanceOf(const std::vector<int32_t> &ctas, Grid grid, uint32_t numCtas, LengthTrend trend) {
  std::vector<uint32_t> work(numCtas);
  for (uint32_t program = 0; program < ctas.size(); ++program) {
    const uint32_t x = program % grid.x;
    work[ctas[program]] += trend == LengthTrend::Shrinks ? grid.x - x : x + 1;
  }
  const double mean = std::accumulate(work.begin(), work.end(), 0.0) / numCtas;
  return *std::max_element(work.begin(), work.end()) / mean;
}

TEST_P(ProgramOrderByLength, CtasHaveEqualWork) {
  for (Grid grid : {Grid{32, 16, 1}, Grid{32, 8, 3}, Grid{64, 20, 1}, Grid{64, 16, 1}, Grid{48, 60, 1}}) {
    const std::vector<int32_t> ctas = ctasOf(*kernel, grid, 132);
    ASSERT_FALSE(ctas.empty());
    EXPECT_LT(imbalanceOf(ctas, grid, 132, GetParam()), 1.03) << grid.x << " x " << grid.y << " x " << grid.z;
  }
}

/// With many rows the order is the grid's, from the last row on: CTAs of a round share rows.
TEST_P(ProgramOrder, RoundsShareRowsWhereThereAreMany) {
  const Grid grid = {16, 24, 1};
  const std::vector<int32_t> ctas = ctasOf(*kernel, grid, 32);
  ASSERT_FALSE(ctas.empty());
  for (uint32_t row = 0; row < 24; ++row) {
    const int32_t first = ctas[row * 16];
    for (int32_t x = 1; x < 16; ++x)
      EXPECT_EQ(std::abs(ctas[row * 16 + x] - first), x) << row;
  }
}

/// What is found for a loop between these bounds; %p and %q are program indices, %n is an argument.
LengthTrend trendOf(const std::string &lower, const std::string &upper, const std::string &ops = "") {
  const auto context = driver::createContext();
  auto module = parseSourceString<ModuleOp>(R"(tt.func public @kernel(%n: i32, %from: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %p = tt.get_program_id x : i32
  %q = tt.get_program_id y : i32
  %first = arith.muli %p, %c128 : i32
  %end = arith.addi %first, %c128 : i32
  )" + ops + "scf.for %i = " + lower + " to " + upper +
                                                " step %c128 : i32 { scf.yield }\n tt.return }",
                                            context.get());
  EXPECT_TRUE(module);
  LengthTrend trend = LengthTrend::Equal;
  module->walk([&](scf::ForOp loop) { trend = nvidia::lengthTrendOf(loop); });
  return trend;
}

TEST(ProgramLengths, FollowTheBoundsOfLoops) {
  EXPECT_EQ(trendOf("%c0", "%n"), LengthTrend::Equal);
  EXPECT_EQ(trendOf("%c0", "%first"), LengthTrend::Grows);
  EXPECT_EQ(trendOf("%first", "%n"), LengthTrend::Shrinks);
  EXPECT_EQ(trendOf("%first", "%end"), LengthTrend::Equal);
  EXPECT_EQ(trendOf("%c0", "%q"), LengthTrend::Equal);
}

TEST(ProgramLengths, SeeThroughArithmetic) {
  EXPECT_EQ(trendOf("%c0", "%m", "%m = arith.minsi %end, %n : i32\n"), LengthTrend::Grows);
  EXPECT_EQ(trendOf("%c0", "%m", "%l = arith.cmpi slt, %end, %n : i32\n%m = arith.select %l, %end, %n : i32\n"),
            LengthTrend::Grows);
  EXPECT_EQ(trendOf("%c0", "%m",
                    "%g = tt.get_num_programs x : i32\n%r = arith.subi %g, %p : i32\n"
                    "%m = arith.muli %r, %c128 : i32\n"),
            LengthTrend::Shrinks);
  // A window of keys.
  EXPECT_EQ(trendOf("%w", "%end", "%w = arith.subi %first, %c128 : i32\n"), LengthTrend::Equal);
}

TEST(ProgramLengths, AreUnknownFromMemory) {
  EXPECT_EQ(trendOf("%c0", "%m", "%l = tt.load %from : !tt.ptr<i32>\n%m = arith.muli %l, %first : i32\n"),
            LengthTrend::Equal);
}

} // namespace
