// Masked accesses: tails, lanes that must not be touched, conditions that hold for a whole row.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace nereid::cpu_test;

/// o[i] = x[i] + x[i] for i < n, in blocks of 64; TYPE and ADD are to be replaced.
static const char *const doubling = R"(
tt.func public @kernel(%x: !tt.ptr<TYPE>, %o: !tt.ptr<TYPE>, %n: i32) {
  %size = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %size : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %firsts = tt.splat %first : i32 -> tensor<64xi32>
  %at = arith.addi %firsts, %range : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %at, %ns : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<TYPE> -> tensor<64x!tt.ptr<TYPE>>
  %xp = tt.addptr %xs, %at : tensor<64x!tt.ptr<TYPE>>, tensor<64xi32>
  %v = tt.load %xp, %m : tensor<64x!tt.ptr<TYPE>>
  %d = ADD %v, %v : tensor<64xTYPE>
  %os = tt.splat %o : !tt.ptr<TYPE> -> tensor<64x!tt.ptr<TYPE>>
  %op = tt.addptr %os, %at : tensor<64x!tt.ptr<TYPE>>, tensor<64xi32>
  tt.store %op, %d, %m : tensor<64x!tt.ptr<TYPE>>
  tt.return
})";

template <typename T> static void checkTails(const char *type, const char *add, T one) {
  auto kernel = LoadedKernel::compile(replaced(replaced(doubling, "TYPE", type), "ADD", add));
  ASSERT_TRUE(kernel);
  for (int n : {0, 1, 3, 7, 8, 15, 16, 31, 33, 63, 64, 65, 127, 130}) {
    FencedBytes x(n * sizeof(T)), o(n * sizeof(T)); // a lane past `n` would fault
    for (int i = 0; i < n; ++i) {
      x.as<T>()[i] = one;
      o.as<T>()[i] = T();
    }
    kernel->run({unsigned(n + 63) / 64, 1, 1}, Arguments().add(x.as<T>()).add(o.as<T>()).add(n));
    for (int i = 0; i < n; ++i)
      ASSERT_NE(o.as<T>()[i], T()) << type << " n=" << n << " i=" << i;
  }
}

TEST(CpuMask, TailsOfEveryWidthTouchNoInactiveLane) {
  checkTails<int8_t>("i8", "arith.addi", 1);
  checkTails<int16_t>("i16", "arith.addi", 1);
  checkTails<int32_t>("i32", "arith.addi", 1);
  checkTails<int64_t>("i64", "arith.addi", 1);
  checkTails<uint16_t>("f16", "arith.addf", 0x3c00);
  checkTails<uint16_t>("bf16", "arith.addf", 0x3f80);
  checkTails<float>("f32", "arith.addf", 1);
  checkTails<double>("f64", "arith.addf", 1);
}

TEST(CpuMask, ProgramsRunAloneAsTheyDoTogether) {
  auto kernel = LoadedKernel::compile(replaced(replaced(doubling, "TYPE", "f32"), "ADD", "arith.addf"));
  ASSERT_TRUE(kernel);
  std::vector<float> x(200, 1), o(200, 0);
  kernel->run({4, 1, 1}, Arguments().add(x.data()).add(o.data()).add(200), 1, 3);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(o[i], i >= 64 && i < 192 ? 2 : 0) << i;
}

TEST(CpuMask, StoresPastTheCacheWriteTheSame) {
  nereid::support::TargetSpec target = nereid::cpu::hostTarget();
  target.lastLevelCacheBytes = 1024; // four programs of 64 floats
  const std::string text = replaced(replaced(doubling, "TYPE", "f32"), "ADD", "arith.addf");
  auto code = compileText(text, target);
  ASSERT_TRUE(code);
  EXPECT_NE(code->assembly.find("movntps"), std::string::npos);
  EXPECT_NE(code->assembly.find("sfence"), std::string::npos);
  auto kernel = LoadedKernel::compile(text, target);
  ASSERT_TRUE(kernel);
  for (int shift = 0; shift < 17; ++shift) // aligned to a vector or not
    for (int n : {64, 250, 640, 1000}) {
      std::vector<float> x(n, 3), o(n + 64, -1);
      kernel->run({unsigned(n + 63) / 64, 1, 1}, Arguments().add(x.data()).add(o.data() + shift).add(n));
      for (int i = 0; i < n + 64; ++i)
        ASSERT_EQ(o[i], i >= shift && i < n + shift ? 6 : -1) << "shift " << shift << " n " << n << " i " << i;
    }
}

/// Rows beyond `rows` and columns beyond `cols` are neither read nor written; the sum counts `other`.
static const char *const rectangle = R"(
tt.func public @kernel(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %s: !tt.ptr<f32>, %rows: i32, %cols: i32) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %rs = tt.splat %rows : i32 -> tensor<8x1xi32>
  %cs = tt.splat %cols : i32 -> tensor<1x32xi32>
  %rm = arith.cmpi slt, %r1, %rs : tensor<8x1xi32>
  %cm = arith.cmpi slt, %c1, %cs : tensor<1x32xi32>
  %rmb = tt.broadcast %rm : tensor<8x1xi1> -> tensor<8x32xi1>
  %cmb = tt.broadcast %cm : tensor<1x32xi1> -> tensor<8x32xi1>
  %m = arith.andi %rmb, %cmb : tensor<8x32xi1>
  %ro = arith.muli %r1, %cs8 : tensor<8x1xi32>
  %rob = tt.broadcast %ro : tensor<8x1xi32> -> tensor<8x32xi32>
  %cb = tt.broadcast %c1 : tensor<1x32xi32> -> tensor<8x32xi32>
  %at = arith.addi %rob, %cb : tensor<8x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %at : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  %one = arith.constant dense<1.0> : tensor<8x32xf32>
  %v = tt.load %xp, %m, %one : tensor<8x32x!tt.ptr<f32>>
  %sum = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<8x32xf32>) -> tensor<8xf32>
  %ss = tt.splat %s : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %sp = tt.addptr %ss, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %sp, %sum : tensor<8x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  tt.store %op, %v, %m : tensor<8x32x!tt.ptr<f32>>
  tt.return
})";

TEST(CpuMask, RectangularMasksClampRowsAndColumns) {
  std::string text = replaced(rectangle, "%cs8", "%cs80");
  text = replaced(text, "  %rm = ", "  %cs80 = tt.splat %cols : i32 -> tensor<8x1xi32>\n  %rm = ");
  auto kernel = LoadedKernel::compile(text);
  ASSERT_TRUE(kernel);
  for (int rows : {0, 1, 5, 8, 9})
    for (int cols : {1, 4, 31, 32}) {
      const int live = std::min(rows, 8) * cols;
      FencedBytes x(live * 4), o(live * 4);
      std::iota(x.as<float>(), x.as<float>() + live, 0.0f);
      std::fill_n(o.as<float>(), live, -1.0f);
      std::vector<float> sums(8);
      kernel->run({1, 1, 1}, Arguments().add(x.as<float>()).add(o.as<float>()).add(sums.data()).add(rows).add(cols));
      for (int r = 0; r < 8; ++r) {
        float expected = r < rows ? 32 - cols : 32;
        for (int c = 0; c < cols && r < rows; ++c) {
          expected += r * cols + c;
          ASSERT_EQ(o.as<float>()[r * cols + c], r * cols + c);
        }
        ASSERT_EQ(sums[r], expected) << rows << "x" << cols << " row " << r;
      }
    }
}
