// Reductions: several operands, regions with control flow, NaN, every axis.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

using namespace nereid::cpu_test;

/// s = reduce of 256 f32 by REGION.
static std::string reducing(const std::string &region) {
  return R"(
tt.func public @kernel(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<256xi32>
  %other = arith.constant dense<OTHER> : tensor<256xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %xp, %m, %other : tensor<256x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
)" + region +
         R"(
    tt.reduce.return %t : f32
  }) : (tensor<256xf32>) -> f32
  tt.store %o, %s : !tt.ptr<f32>
  tt.return
})";
}

static float reduce(const LoadedKernel &kernel, std::vector<float> x) {
  float result = -77;
  kernel.run({1, 1, 1}, Arguments().add(x.data()).add(&result).add(int(x.size())));
  return result;
}

TEST(CpuReduce, MaximumsTreatNanAsTheOpSays) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto number = LoadedKernel::compile(replaced(reducing("%t = arith.maxnumf %a, %b : f32"), "OTHER", "0xFF800000"));
  auto propagating =
      LoadedKernel::compile(replaced(reducing("%t = arith.maximumf %a, %b : f32"), "OTHER", "0xFF800000"));
  ASSERT_TRUE(number && propagating);
  EXPECT_EQ(reduce(*number, {-3, nan, -2, nan}), -2);
  EXPECT_TRUE(std::isnan(reduce(*propagating, {-3, nan, -2})));
  EXPECT_EQ(reduce(*propagating, {-3, -2}), -2);
  std::vector<float> all(256, nan);
  EXPECT_TRUE(std::isnan(reduce(*number, all)));
}

TEST(CpuReduce, InactiveElementsCountAsOther) {
  auto sum = LoadedKernel::compile(replaced(reducing("%t = arith.addf %a, %b : f32"), "OTHER", "2.0"));
  ASSERT_TRUE(sum);
  for (int n : {0, 1, 31, 32, 100, 255, 256})
    EXPECT_EQ(reduce(*sum, std::vector<float>(n, 1)), n + 2 * (256 - n)) << n;
  auto product = LoadedKernel::compile(replaced(reducing("%t = arith.mulf %a, %b : f32"), "OTHER", "-1.0"));
  ASSERT_TRUE(product);
  EXPECT_EQ(reduce(*product, std::vector<float>(253, 1)), -1);
}

TEST(CpuReduce, RegionWithControlFlowRunsLaneByLane) {
  auto kernel = LoadedKernel::compile(replaced(reducing(R"(
    %c = arith.cmpf ogt, %a, %b : f32
    %t = scf.if %c -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    })"),
                                               "OTHER", "-9.0"));
  ASSERT_TRUE(kernel);
  EXPECT_EQ(reduce(*kernel, {-3, 8, -2}), 8);
}

TEST(CpuReduce, RegionOfUnknownIdentity) {
  // The larger magnitude: nothing is neutral that the compiler knows of.
  auto kernel = LoadedKernel::compile(replaced(reducing(R"(
    %aa = math.absf %a : f32
    %bb = math.absf %b : f32
    %c = arith.cmpf ogt, %aa, %bb : f32
    %t = arith.select %c, %a, %b : f32)"),
                                               "OTHER", "0.5"));
  ASSERT_TRUE(kernel);
  std::vector<float> x(200);
  std::iota(x.begin(), x.end(), -150.0f);
  EXPECT_EQ(reduce(*kernel, x), -150);
}

/// Column and row sums of an 8x64 tile, and the index of each row's maximum.
TEST(CpuReduce, EveryAxisAndSeveralOperands) {
  const char *text = R"(
tt.func public @kernel(%x: !tt.ptr<i16>, %cols: !tt.ptr<i16>, %rows: !tt.ptr<i32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %w = arith.constant dense<64> : tensor<8x1xi32>
  %ro = arith.muli %r1, %w : tensor<8x1xi32>
  %rb = tt.broadcast %ro : tensor<8x1xi32> -> tensor<8x64xi32>
  %cb = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<8x64xi32>
  %at = arith.addi %rb, %cb : tensor<8x64xi32>
  %xs = tt.splat %x : !tt.ptr<i16> -> tensor<8x64x!tt.ptr<i16>>
  %xp = tt.addptr %xs, %at : tensor<8x64x!tt.ptr<i16>>, tensor<8x64xi32>
  %v = tt.load %xp : tensor<8x64x!tt.ptr<i16>>
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i16, %b: i16):
    %t = arith.addi %a, %b : i16
    tt.reduce.return %t : i16
  }) : (tensor<8x64xi16>) -> tensor<64xi16>
  %best:2 = "tt.reduce"(%v, %cb) <{axis = 1 : i32}> ({
  ^bb0(%a: i16, %ai: i32, %b: i16, %bi: i32):
    %more = arith.cmpi sgt, %a, %b : i16
    %same = arith.cmpi eq, %a, %b : i16
    %first = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %same, %first : i1
    %left = arith.ori %more, %tie : i1
    %u = arith.select %left, %a, %b : i16
    %ui = arith.select %left, %ai, %bi : i32
    tt.reduce.return %u, %ui : i16, i32
  }) : (tensor<8x64xi16>, tensor<8x64xi32>) -> (tensor<8xi16>, tensor<8xi32>)
  %cs = tt.splat %cols : !tt.ptr<i16> -> tensor<64x!tt.ptr<i16>>
  %cp = tt.addptr %cs, %c : tensor<64x!tt.ptr<i16>>, tensor<64xi32>
  tt.store %cp, %sum : tensor<64x!tt.ptr<i16>>
  %rs = tt.splat %rows : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %rp = tt.addptr %rs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %rp, %best#1 : tensor<8x!tt.ptr<i32>>
  tt.return
})";
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  std::vector<int16_t> x(512), cols(64);
  std::vector<int> rows(8);
  for (int i = 0; i < 512; ++i)
    x[i] = i * 7919 % 101;
  kernel->run({1, 1, 1}, Arguments().add(x.data()).add(cols.data()).add(rows.data()));
  for (int c = 0; c < 64; ++c) {
    int16_t sum = 0;
    for (int r = 0; r < 8; ++r)
      sum += x[r * 64 + c];
    EXPECT_EQ(cols[c], sum) << c;
  }
  for (int r = 0; r < 8; ++r)
    EXPECT_EQ(rows[r], std::max_element(&x[r * 64], &x[r * 64] + 64) - &x[r * 64]) << r;
}
