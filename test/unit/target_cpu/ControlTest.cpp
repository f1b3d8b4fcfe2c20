// Tiles carried by loops and merged by branches.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace nereid::cpu_test;

/// Loads a and b (64 i32 each), runs BODY, which defines %p and %q, and stores them back.
static std::string twoTiles(const std::string &body) {
  return R"(
tt.func public @kernel(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %as = tt.splat %a : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %ap = tt.addptr %as, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %av = tt.load %ap : tensor<64x!tt.ptr<i32>>
  %bs = tt.splat %b : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %bp = tt.addptr %bs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %bv = tt.load %bp : tensor<64x!tt.ptr<i32>>
)" + body +
         R"(
  tt.store %ap, %p : tensor<64x!tt.ptr<i32>>
  tt.store %bp, %q : tensor<64x!tt.ptr<i32>>
  tt.return
})";
}

struct Tiles {
  std::vector<int> a = std::vector<int>(64), b = std::vector<int>(64);
  Tiles() {
    std::iota(a.begin(), a.end(), 0);
    std::iota(b.begin(), b.end(), 1000);
  }
  void run(const LoadedKernel &kernel, int n) { kernel.run({1, 1, 1}, Arguments().add(a.data()).add(b.data()).add(n)); }
};

TEST(CpuControl, TwoCarriedTilesSwap) {
  auto kernel = LoadedKernel::compile(twoTiles(R"(
  %p, %q = scf.for %k = %zero to %n step %one iter_args(%x = %av, %y = %bv) -> (tensor<64xi32>, tensor<64xi32>) : i32 {
    scf.yield %y, %x : tensor<64xi32>, tensor<64xi32>
  })"));
  ASSERT_TRUE(kernel);
  for (int n : {0, 1, 2, 7}) {
    Tiles tiles, start;
    tiles.run(*kernel, n);
    EXPECT_EQ(tiles.a, n % 2 ? start.b : start.a) << n;
    EXPECT_EQ(tiles.b, n % 2 ? start.a : start.b) << n;
  }
}

TEST(CpuControl, UpdateThatReadsOtherElementsIsNotInPlace) {
  // Each iteration transposes x while y gathers the sum of the old and the new one.
  auto kernel = LoadedKernel::compile(twoTiles(R"(
  %p, %q = scf.for %k = %zero to %n step %one iter_args(%x = %av, %y = %bv) -> (tensor<64xi32>, tensor<64xi32>) : i32 {
    %s = tt.reshape %x : tensor<64xi32> -> tensor<8x8xi32>
    %t = tt.trans %s {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>
    %u = tt.reshape %t : tensor<8x8xi32> -> tensor<64xi32>
    %v = arith.addi %y, %x : tensor<64xi32>
    scf.yield %u, %v : tensor<64xi32>, tensor<64xi32>
  })"));
  ASSERT_TRUE(kernel);
  Tiles tiles;
  std::vector<int> x = tiles.a, y = tiles.b;
  for (int iteration = 0; iteration < 3; ++iteration) {
    std::vector<int> next(64);
    for (int i = 0; i < 64; ++i) {
      y[i] += x[i];
      next[i] = x[i % 8 * 8 + i / 8];
    }
    x = next;
  }
  tiles.run(*kernel, 3);
  EXPECT_EQ(tiles.a, x);
  EXPECT_EQ(tiles.b, y);
}

TEST(CpuControl, BroadcastOfTheCarriedTileInsideItsUpdate) {
  auto kernel = LoadedKernel::compile(twoTiles(R"(
  %p, %q = scf.for %k = %zero to %n step %one iter_args(%x = %av, %y = %bv) -> (tensor<64xi32>, tensor<64xi32>) : i32 {
    %c = tt.expand_dims %x {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %r = tt.expand_dims %x {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %cb = tt.broadcast %c : tensor<64x1xi32> -> tensor<64x64xi32>
    %rb = tt.broadcast %r : tensor<1x64xi32> -> tensor<64x64xi32>
    %d = arith.subi %cb, %rb : tensor<64x64xi32>
    %m = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%e: i32, %f: i32):
      %g = arith.maxsi %e, %f : i32
      tt.reduce.return %g : i32
    }) : (tensor<64x64xi32>) -> tensor<64xi32>
    %z = arith.addi %m, %y : tensor<64xi32>
    scf.yield %m, %z : tensor<64xi32>, tensor<64xi32>
  })"));
  ASSERT_TRUE(kernel);
  Tiles tiles;
  std::vector<int> x = tiles.a, y = tiles.b;
  for (int iteration = 0; iteration < 2; ++iteration) {
    const int least = *std::min_element(x.begin(), x.end());
    for (int i = 0; i < 64; ++i)
      y[i] += x[i] -= least;
  }
  tiles.run(*kernel, 2);
  EXPECT_EQ(tiles.a, x);
  EXPECT_EQ(tiles.b, y);
}

TEST(CpuControl, WhileForwardsTiles) {
  // Doubles x until its sum passes n; y counts the iterations.
  auto kernel = LoadedKernel::compile(twoTiles(R"(
  %ones = arith.constant dense<1> : tensor<64xi32>
  %p, %q = scf.while (%x = %av, %y = %bv) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%e: i32, %f: i32):
      %g = arith.addi %e, %f : i32
      tt.reduce.return %g : i32
    }) : (tensor<64xi32>) -> i32
    %more = arith.cmpi slt, %s, %n : i32
    scf.condition(%more) %x, %y : tensor<64xi32>, tensor<64xi32>
  } do {
  ^bb0(%x: tensor<64xi32>, %y: tensor<64xi32>):
    %d = arith.addi %x, %x : tensor<64xi32>
    %z = arith.addi %y, %ones : tensor<64xi32>
    scf.yield %d, %z : tensor<64xi32>, tensor<64xi32>
  })"));
  ASSERT_TRUE(kernel);
  Tiles tiles, start;
  tiles.run(*kernel, 10000); // 2016, 4032, 8064, 16128
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(tiles.a[i], start.a[i] * 8);
    EXPECT_EQ(tiles.b[i], start.b[i] + 3);
  }
}

TEST(CpuControl, BranchesMergeTilesAndScalars) {
  auto kernel = LoadedKernel::compile(twoTiles(R"(
  %c = arith.cmpi sgt, %n, %zero : i32
  %p, %t = scf.if %c -> (tensor<64xi32>, i32) {
    %s = arith.addi %av, %bv : tensor<64xi32>
    scf.yield %s, %one : tensor<64xi32>, i32
  } else {
    scf.yield %bv, %n : tensor<64xi32>, i32
  }
  %q = tt.splat %t : i32 -> tensor<64xi32>)"));
  ASSERT_TRUE(kernel);
  for (int n : {-5, 3}) {
    Tiles tiles, start;
    tiles.run(*kernel, n);
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(tiles.a[i], n > 0 ? start.a[i] + start.b[i] : start.b[i]);
      EXPECT_EQ(tiles.b[i], n > 0 ? 1 : n);
    }
  }
}

TEST(CpuControl, SwitchOnAnIndex) {
  auto kernel = LoadedKernel::compile(twoTiles(R"(
  %index = arith.index_cast %n : i32 to index
  %p = scf.index_switch %index -> tensor<64xi32>
  case 1 {
    scf.yield %bv : tensor<64xi32>
  }
  default {
    scf.yield %i : tensor<64xi32>
  }
  %q = arith.subi %p, %i : tensor<64xi32>)"));
  ASSERT_TRUE(kernel);
  for (int n : {1, 2}) {
    Tiles tiles, start;
    tiles.run(*kernel, n);
    EXPECT_EQ(tiles.a[5], n == 1 ? start.b[5] : 5);
    EXPECT_EQ(tiles.b[5], n == 1 ? start.b[5] - 5 : 0);
  }
}

TEST(CpuControl, FunctionsKeptApartAreInlined) {
  std::string text = twoTiles(R"(
  %p = tt.call @twice(%av) : (tensor<64xi32>) -> tensor<64xi32>
  %q = tt.call @twice(%p) : (tensor<64xi32>) -> tensor<64xi32>)");
  text += R"(
tt.func private @twice(%x: tensor<64xi32>) -> tensor<64xi32> attributes {noinline = true} {
  %s = arith.addi %x, %x : tensor<64xi32>
  tt.return %s : tensor<64xi32>
})";
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  Tiles tiles;
  tiles.run(*kernel, 0);
  EXPECT_EQ(tiles.a[5], 10);
  EXPECT_EQ(tiles.b[5], 20);
}

TEST(CpuControl, RecursionIsADiagnostic) {
  std::string error;
  EXPECT_FALSE(LoadedKernel::compile(R"(
tt.func public @kernel(%n: i32) {
  tt.call @again(%n) : (i32) -> ()
  tt.return
}
tt.func private @again(%n: i32) {
  tt.call @again(%n) : (i32) -> ()
  tt.return
})",
                                     &error));
  EXPECT_NE(error.find("calls itself"), std::string::npos) << error;
}

TEST(CpuControl, CallsThatCannotBeInlinedAreADiagnosticOfTheirOwn) {
  std::string error;
  EXPECT_FALSE(LoadedKernel::compile(R"(
tt.func public @kernel(%n: i32) {
  tt.call @checked(%n) : (i32) -> ()
  tt.return
}
tt.func private @checked(%n: i32) {
  check.values overflow "+" (%n, %n) : i32, i32
  tt.return
})",
                                     &error));
  EXPECT_NE(error.find("`checked` could not be made part of its caller"), std::string::npos) << error;
}
