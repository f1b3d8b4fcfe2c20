// Memory that loads and stores share: results are as if each op ran to its end before the next.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace nereid::cpu_test;

/// o[i] = x[i] for 128 elements, unmasked.
static const char *const copying = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %v = tt.load %xp : tensor<128x!tt.ptr<i32>>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %op = tt.addptr %os, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  tt.store %op, %v : tensor<128x!tt.ptr<i32>>
  tt.return
})";

TEST(CpuAlias, OverlappingViewsCopyAsMemmoveDoes) {
  auto kernel = LoadedKernel::compile(copying);
  ASSERT_TRUE(kernel);
  for (int shift : {-130, -65, -33, -1, 0, 1, 2, 31, 32, 33, 100, 127, 128}) {
    std::vector<int> data(400);
    std::iota(data.begin(), data.end(), 0);
    std::vector<int> expected = data;
    std::copy(data.begin() + 140, data.begin() + 268, expected.begin() + 140 + shift);
    kernel->run({1, 1, 1}, Arguments().add(data.data() + 140).add(data.data() + 140 + shift));
    EXPECT_EQ(data, expected) << "shift " << shift;
  }
}

TEST(CpuAlias, ReversalInPlaceReadsWhatWasThere) {
  // The store's index runs against the load's: no chunk may be written before all are read.
  std::string text = replaced(copying, "  %os = ", R"(  %last = arith.constant dense<127> : tensor<128xi32>
  %back = arith.subi %last, %i : tensor<128xi32>
  %os = )");
  text = replaced(text, "tt.addptr %os, %i", "tt.addptr %os, %back");
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  std::vector<int> data(128), expected(128);
  std::iota(data.begin(), data.end(), 0);
  std::copy(data.rbegin(), data.rend(), expected.begin());
  kernel->run({1, 1, 1}, Arguments().add(data.data()).add(data.data()));
  EXPECT_EQ(data, expected);
}

TEST(CpuAlias, FlipAfterReduceUsesTheOldValues) {
  // x is read by a reduction, then a scalar store hits its first element, then x is used again.
  const char *text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<i32>>
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tt.reduce.return %t : i32
  }) : (tensor<64xi32>) -> i32
  tt.store %x, %sum : !tt.ptr<i32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %back = arith.subi %last, %i : tensor<64xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %op = tt.addptr %os, %back : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %op, %v : tensor<64x!tt.ptr<i32>>
  tt.return
})";
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  std::vector<int> data(64), expected(64);
  std::iota(data.begin(), data.end(), 1);
  std::copy(data.rbegin(), data.rend(), expected.begin());
  kernel->run({1, 1, 1}, Arguments().add(data.data()).add(data.data()));
  EXPECT_EQ(data, expected);

  std::vector<int> source(64), target(64);
  std::iota(source.begin(), source.end(), 1);
  kernel->run({1, 1, 1}, Arguments().add(source.data()).add(target.data()));
  EXPECT_EQ(target, expected);
  EXPECT_EQ(source[0], 64 * 65 / 2);
}

TEST(CpuAlias, LoadAfterStoreSeesIt) {
  const char *text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %p: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %op = tt.addptr %os, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %op, %i : tensor<64x!tt.ptr<i32>>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<i32>>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %pp, %v : tensor<64x!tt.ptr<i32>>
  tt.return
})";
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  std::vector<int> data(200, -1), out(64, -2);
  kernel->run({1, 1, 1}, Arguments().add(data.data() + 10).add(data.data()).add(out.data()));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i + 10 < 64 ? i + 10 : -1) << i;
}

TEST(CpuAlias, KeptTileIsComputedWhereItsNestNeedsAnotherIndex) {
  // The load is kept, since a scatter follows; the reduction beside it sees the tile transposed, mask and all.
  const char *text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %s: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %r = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %c = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %eight = arith.constant dense<8> : tensor<8x1xi32>
  %r8 = arith.muli %r, %eight : tensor<8x1xi32>
  %rb = tt.broadcast %r8 : tensor<8x1xi32> -> tensor<8x8xi32>
  %cb = tt.broadcast %c : tensor<1x8xi32> -> tensor<8x8xi32>
  %at = arith.addi %rb, %cb : tensor<8x8xi32>
  %ns = tt.splat %n : i32 -> tensor<8x8xi32>
  %m = arith.cmpi slt, %cb, %ns : tensor<8x8xi32>
  %zero = arith.constant dense<0> : tensor<8x8xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x8x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %at : tensor<8x8x!tt.ptr<i32>>, tensor<8x8xi32>
  %v = tt.load %xp, %m, %zero : tensor<8x8x!tt.ptr<i32>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>
  %sum = "tt.reduce"(%t) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %u = arith.addi %a, %b : i32
    tt.reduce.return %u : i32
  }) : (tensor<8x8xi32>) -> tensor<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %j = arith.xori %i, %one : tensor<8xi32>
  %ss = tt.splat %s : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %sp = tt.addptr %ss, %j : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %sp, %sum : tensor<8x!tt.ptr<i32>>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<8x8x!tt.ptr<i32>>
  %op = tt.addptr %os, %at : tensor<8x8x!tt.ptr<i32>>, tensor<8x8xi32>
  tt.store %op, %v : tensor<8x8x!tt.ptr<i32>>
  tt.return
})";
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  for (int n : {0, 2, 5, 8}) {
    std::vector<int> x(64), sums(8), out(64);
    std::iota(x.begin(), x.end(), 1);
    kernel->run({1, 1, 1}, Arguments().add(x.data()).add(sums.data()).add(out.data()).add(n));
    for (int column = 0; column < 8; ++column) {
      int expected = 0;
      for (int row = 0; row < 8; ++row) {
        const int live = column < n ? x[row * 8 + column] : 0;
        expected += live;
        EXPECT_EQ(out[row * 8 + column], live);
      }
      EXPECT_EQ(sums[column ^ 1], expected) << n;
    }
  }
}
