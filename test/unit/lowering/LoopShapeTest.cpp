// Tests loops that are flattened or unrolled before layouts are chosen, by executing them.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// Multiplies tiles of M rows of A by one matrix B of 32 columns, K in steps of 32; a program takes every %each-th tile
/// from %first on.
struct Tiles {
  unsigned stages = 3, warps = 4;
  int64_t m = 64;
  std::string outer = "tt.flatten"; ///< attributes of the loop over tiles
  std::string inner;                ///< further attributes of the loop over K
  bool hintsK = false;              ///< hint that K is a multiple of 16, so that A's vectors are wide
};

std::string persistent(const Tiles &tiles) {
  std::string text =
      R"(tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %count: !tt.ptr<i32>, %k: i32$K, %tiles: i32, %first: i32, %each: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %cA = arith.constant $A : i32
  %cO = arith.constant $O : i32
  %zero = arith.constant dense<0.0> : tensor<$Mx32xf32>
  %two = arith.constant dense<2.0> : tensor<$Mx32xf32>
  %noA = arith.constant dense<0.0> : tensor<$Mx32xf16>
  %stepA = arith.constant dense<32> : tensor<$Mx32xi32>
  %pitchA = arith.constant dense<160> : tensor<$Mx1xi32>
  %pitchB = arith.constant dense<32> : tensor<32x1xi32>
  %pitchO = arith.constant dense<32> : tensor<$Mx1xi32>
  %rm = tt.make_range {end = $M : i32, start = 0 : i32} : tensor<$Mxi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %rm {axis = 1 : i32} : tensor<$Mxi32> -> tensor<$Mx1xi32>
  %rowB = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %column = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<$Mx32xi32>
  %columnsB = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
  %startA = arith.muli %row, %pitchA : tensor<$Mx1xi32>
  %startsA = tt.broadcast %startA : tensor<$Mx1xi32> -> tensor<$Mx32xi32>
  %atA = arith.addi %startsA, %columns : tensor<$Mx32xi32>
  %startB = arith.muli %rowB, %pitchB : tensor<32x1xi32>
  %startsB = tt.broadcast %startB : tensor<32x1xi32> -> tensor<32x32xi32>
  %atB = arith.addi %startsB, %columnsB : tensor<32x32xi32>
  %startO = arith.muli %row, %pitchO : tensor<$Mx1xi32>
  %startsO = tt.broadcast %startO : tensor<$Mx1xi32> -> tensor<$Mx32xi32>
  %atO = arith.addi %startsO, %columns : tensor<$Mx32xi32>
  %pb0 = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %pb = tt.addptr %pb0, %atB : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %done = scf.for %t = %first to %tiles step %each iter_args(%n = %c0) -> (i32) : i32 {
    %isOdd = arith.remsi %t, %each : i32
    %toA = arith.muli %t, %cA : i32
    %baseA = tt.addptr %a, %toA : !tt.ptr<f16>, i32
    %pa0 = tt.splat %baseA : !tt.ptr<f16> -> tensor<$Mx32x!tt.ptr<f16>>
    %pa = tt.addptr %pa0, %atA : tensor<$Mx32x!tt.ptr<f16>>, tensor<$Mx32xi32>
    %r:2 = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero, %x0 = %pa) -> (tensor<$Mx32xf32>, tensor<$Mx32x!tt.ptr<f16>>) : i32 {
      %left = arith.subi %k, %i : i32
      %leftA = tt.splat %left : i32 -> tensor<1x32xi32>
      %isA = arith.cmpi slt, %column, %leftA : tensor<1x32xi32>
      %maskA = tt.broadcast %isA : tensor<1x32xi1> -> tensor<$Mx32xi1>
      %x = tt.load %x0, %maskA, %noA : tensor<$Mx32x!tt.ptr<f16>>
      %toB = arith.muli %i, %c32 : i32
      %offB = tt.splat %toB : i32 -> tensor<32x32xi32>
      %y0 = tt.addptr %pb, %offB : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %y = tt.load %y0 : tensor<32x32x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc : tensor<$Mx32xf16> * tensor<32x32xf16> -> tensor<$Mx32xf32>
      %x2 = tt.addptr %x0, %stepA : tensor<$Mx32x!tt.ptr<f16>>, tensor<$Mx32xi32>
      scf.yield %d, %x2 : tensor<$Mx32xf32>, tensor<$Mx32x!tt.ptr<f16>>
    } {tt.num_stages = $S : i32$INNER}
    %twice = arith.mulf %r#0, %two : tensor<$Mx32xf32>
    %toO = arith.muli %t, %cO : i32
    %baseO = tt.addptr %o, %toO : !tt.ptr<f32>, i32
    %po0 = tt.splat %baseO : !tt.ptr<f32> -> tensor<$Mx32x!tt.ptr<f32>>
    %po = tt.addptr %po0, %atO : tensor<$Mx32x!tt.ptr<f32>>, tensor<$Mx32xi32>
    tt.store %po, %twice : tensor<$Mx32x!tt.ptr<f32>>
    %n1 = arith.addi %n, %c1 : i32
    %n2 = arith.addi %n1, %isOdd : i32
    scf.yield %n2 : i32
  } {$OUTER}
  tt.store %count, %done : !tt.ptr<i32>
  tt.return
})";
  for (const auto &[name, value] : {std::pair<const char *, std::string>{"$INNER", tiles.inner},
                                    {"$OUTER", tiles.outer},
                                    {"$M", std::to_string(tiles.m)},
                                    {"$A", std::to_string(tiles.m * 160)},
                                    {"$O", std::to_string(tiles.m * 32)},
                                    {"$S", std::to_string(tiles.stages)},
                                    {"$K", tiles.hintsK ? " {tt.divisibility = 16 : i32}" : ""}})
    text = replaced(text, name, value);
  return text;
}

struct Work {
  int32_t k, tiles, first = 0, each = 1;
};

void expectRight(const Tiles &tiles, const Work &work, std::vector<std::string> expected, bool hasWarpGroups) {
  SCOPED_TRACE(llvm::formatv("{0} stages, {1} warps, k = {2}, tiles {3} to {4} by {5}", tiles.stages, tiles.warps,
                             work.k, work.first, work.tiles, work.each)
                   .str());
  expectSameAsCpu(
      {.text = persistent(tiles),
       .parameters = {smallNumbers(4 * tiles.m * 160, 1), smallNumbers(160 * 32, 2),
                      Buffer::zeros(4 * tiles.m * 32 * 4), Buffer::zeros(4), work.k, work.tiles, work.first, work.each},
       .warps = {tiles.warps},
       .hasWarpGroups = hasWarpGroups,
       .expected = std::move(expected)});
}

const Work works[] = {{0, 3}, {1, 3}, {32, 3}, {70, 4, 1, 2}, {160, 4}, {96, 1}, {64, 0}, {64, 2, 2, 1}, {33, 4, 3, 5}};

TEST(LoopShape, NestedLoopsBecomeOne) {
  for (unsigned stages : {1u, 2u, 4u})
    for (const Work &work : works)
      expectRight({.stages = stages, .m = 32}, work, {}, false);
}

TEST(LoopShape, NestedLoopsOfWarpGroupDotsBecomeOne) {
  for (unsigned stages : {1u, 2u, 4u})
    for (const Work &work : works)
      expectRight({.stages = stages, .warps = 4}, work, {"ttng.warp_group_dot"}, true);
}

/// The range of the innermost loop's body in the text.
llvm::StringRef loopIn(const std::string &text, llvm::StringRef mark) {
  const size_t at = llvm::StringRef(text).find(mark);
  const size_t begin = llvm::StringRef(text).take_front(at).rfind("scf.for");
  return llvm::StringRef(text).slice(begin, at);
}

TEST(LoopShape, LoadsOfTheNextTileRunAheadOfTheEndOfThisOne) {
  auto kernel = SimtKernel::compile(persistent({.hintsK = true}), 4, nullptr, true);
  ASSERT_TRUE(kernel);
  const llvm::StringRef loop = loopIn(kernel->ttgir, "tt.scheduled_max_stage = 2");
  EXPECT_EQ(loop.count("ttg.async_copy_global_to_local"), 2u) << kernel->ttgir;
  EXPECT_EQ(loop.count("tt.store"), 1u) << kernel->ttgir;
  EXPECT_NE(loop.find("isAsync = true"), llvm::StringRef::npos) << kernel->ttgir;
  EXPECT_NE(loop.find("pendings = 1"), llvm::StringRef::npos) << kernel->ttgir;
  EXPECT_EQ(loop.count("pendings = 0"), 1u) << "in the branch that stores: " << kernel->ttgir;
}

TEST(LoopShape, LoopsThatAreUnrolled) {
  for (unsigned factor : {2u, 3u, 4u})
    for (bool hasWarpGroups : {false, true})
      for (int32_t k : {0, 1, 32, 64, 96, 128, 160}) {
        const std::string inner = ", tt.loop_unroll_factor = " + std::to_string(factor) + " : i32";
        expectRight({.m = hasWarpGroups ? 64 : 32, .outer = "", .inner = inner}, {k, 2}, {}, hasWarpGroups);
      }
}

TEST(LoopShape, LoadsOfUnrolledIterationsArePrefetchedTogether) {
  auto kernel = SimtKernel::compile(
      persistent({.outer = "", .inner = ", tt.loop_unroll_factor = 2 : i32", .hintsK = true}), 4, nullptr, true);
  ASSERT_TRUE(kernel);
  const llvm::StringRef loop = loopIn(kernel->ttgir, "tt.scheduled_max_stage = 2");
  EXPECT_EQ(loop.count("ttg.async_copy_global_to_local"), 4u) << kernel->ttgir;
  EXPECT_EQ(loop.count("ttng.warp_group_dot "), 2u) << kernel->ttgir;
}

} // namespace
} // namespace nereid::simt
