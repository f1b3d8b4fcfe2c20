// Element types and ops: exact conversions, integers that would trap, addresses of every kind.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace nereid::cpu_test;

/// o[i] = BODY of %v, which has 32 elements of FROM; gives %r of TO.
static std::string mapping(const std::string &from, const std::string &to, const std::string &body) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<FROM>, %o: !tt.ptr<TO>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<FROM> -> tensor<32x!tt.ptr<FROM>>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<FROM>>, tensor<32xi32>
  %v = tt.load %xp : tensor<32x!tt.ptr<FROM>>
)" + body + R"(
  %os = tt.splat %o : !tt.ptr<TO> -> tensor<32x!tt.ptr<TO>>
  %op = tt.addptr %os, %i : tensor<32x!tt.ptr<TO>>, tensor<32xi32>
  tt.store %op, %r : tensor<32x!tt.ptr<TO>>
  tt.return
})";
  return replaced(replaced(text, "FROM", from), "TO", to);
}

template <typename From, typename To> static std::vector<To> apply(const LoadedKernel &kernel, std::vector<From> x) {
  x.resize(32);
  std::vector<To> result(32);
  kernel.run({1, 1, 1}, Arguments().add(x.data()).add(result.data()));
  return result;
}

/// Nearest even, by the definition: the candidates are neighbours in bits.
static uint16_t nearestBfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t low = bits >> 16;
  const uint32_t rest = bits & 0xffff;
  return low + (rest > 0x8000 || (rest == 0x8000 && (low & 1)));
}

TEST(CpuElement, BfloatRoundsToNearestEven) {
  auto kernel =
      LoadedKernel::compile(mapping("f32", "bf16", "%r = arith.truncf %v : tensor<32xf32> to tensor<32xbf16>"));
  ASSERT_TRUE(kernel);
  uint32_t state = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<float> x;
    for (int i = 0; i < 32; ++i) {
      state = state * 1664525 + 1013904223;
      const uint32_t bits = i % 4 ? state : (state & 0xffff0000) | 0x8000; // ties too
      const float value = std::bit_cast<float>(bits);
      x.push_back(std::isnan(value) ? 1.0f : value);
    }
    const auto result = apply<float, uint16_t>(*kernel, x);
    for (int i = 0; i < 32; ++i)
      ASSERT_EQ(result[i], nearestBfloat(x[i])) << x[i];
  }
  const auto nan = apply<float, uint16_t>(*kernel, {std::bit_cast<float>(0x7f800001), -INFINITY});
  EXPECT_GT(nan[0] & 0x7fff, 0x7f80);
  EXPECT_EQ(nan[1], 0xff80);
}

TEST(CpuElement, DoubleRoundsOnceToSixteenBits) {
  auto kernel = LoadedKernel::compile(mapping("f64", "f16", "%r = arith.truncf %v : tensor<32xf64> to tensor<32xf16>"));
  ASSERT_TRUE(kernel);
  // Just above the tie between 1 and its successor: through f32 it would become the tie.
  const double above = 1 + 0x1p-11 + 0x1p-40, below = 1 + 0x1p-11 - 0x1p-40, tie = 1 + 0x1p-11;
  const auto result =
      apply<double, uint16_t>(*kernel, {above, below, tie, -above, 65520, 65519.999, 0x1p-25, 0x1.1p-25});
  EXPECT_EQ(result[0], 0x3c01);
  EXPECT_EQ(result[1], 0x3c00);
  EXPECT_EQ(result[2], 0x3c00);
  EXPECT_EQ(result[3], 0xbc01);
  EXPECT_EQ(result[4], 0x7c00);
  EXPECT_EQ(result[5], 0x7bff);
  EXPECT_EQ(result[6], 0);
  EXPECT_EQ(result[7], 1);
}

TEST(CpuElement, SixteenBitArithmeticRoundsEachOp) {
  // (x + 1) - 1 loses what does not fit beside 1.
  auto kernel = LoadedKernel::compile(mapping("bf16", "bf16", R"(
  %one = arith.constant dense<1.0> : tensor<32xbf16>
  %s = arith.addf %v, %one : tensor<32xbf16>
  %r = arith.subf %s, %one : tensor<32xbf16>)"));
  ASSERT_TRUE(kernel);
  const auto result = apply<uint16_t, uint16_t>(*kernel, {0x3b80 /* 2^-8 */, 0x3c40 /* 3 * 2^-8 */, 0x3f80});
  EXPECT_EQ(result[0], 0);      // the tie goes to even
  EXPECT_EQ(result[1], 0x3c80); // 4 * 2^-8
  EXPECT_EQ(result[2], 0x3f80);
}

TEST(CpuElement, DivisionsThatWouldTrapDoNot) {
  auto kernel = LoadedKernel::compile(mapping("i32", "i32", R"(
  %least = arith.constant dense<-2147483648> : tensor<32xi32>
  %q = arith.divsi %least, %v : tensor<32xi32>
  %m = arith.remsi %least, %v : tensor<32xi32>
  %u = arith.divui %least, %v : tensor<32xi32>
  %s = arith.addi %q, %m : tensor<32xi32>
  %z = arith.constant dense<0> : tensor<32xi32>
  %c = arith.cmpi eq, %u, %z : tensor<32xi32>
  %r = arith.select %c, %s, %q : tensor<32xi1>, tensor<32xi32>)"));
  ASSERT_TRUE(kernel);
  const auto result = apply<int, int>(*kernel, {0, -1, 2, 7});
  EXPECT_EQ(result[2], -1073741824);
  EXPECT_EQ(result[3], std::numeric_limits<int>::min() / 7);
}

TEST(CpuElement, ShiftsPastTheWidthAreDefined) {
  auto kernel = LoadedKernel::compile(mapping("i8", "i8", R"(
  %least = arith.constant dense<-128> : tensor<32xi8>
  %r = arith.shrsi %least, %v : tensor<32xi8>)"));
  ASSERT_TRUE(kernel);
  const auto result = apply<int8_t, int8_t>(*kernel, {0, 1, 7, 8, 100});
  EXPECT_EQ(result[1], -64);
  EXPECT_EQ(result[2], -1);
  EXPECT_EQ(result[3], -1);
  EXPECT_EQ(result[4], -1);
}

TEST(CpuElement, GathersReadComputedAddresses) {
  // o[i] = x[31 - x[i]]
  auto kernel = LoadedKernel::compile(mapping("i64", "i64", R"(
  %last = arith.constant dense<31> : tensor<32xi64>
  %j = arith.subi %last, %v : tensor<32xi64>
  %gp = tt.addptr %xs, %j : tensor<32x!tt.ptr<i64>>, tensor<32xi64>
  %r = tt.load %gp : tensor<32x!tt.ptr<i64>>)"));
  ASSERT_TRUE(kernel);
  std::vector<int64_t> x(32);
  for (int i = 0; i < 32; ++i)
    x[i] = i * 13 % 32;
  const auto result = apply<int64_t, int64_t>(*kernel, x);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(result[i], x[31 - x[i]]) << i;
}

TEST(CpuElement, DenormalsAreKept) {
  auto kernel = LoadedKernel::compile(mapping("f32", "f32", R"(
  %half = arith.constant dense<0.5> : tensor<32xf32>
  %r = arith.mulf %v, %half : tensor<32xf32>)"));
  ASSERT_TRUE(kernel);
  EXPECT_EQ((apply<float, float>(*kernel, {0x1p-148f}))[0], 0x1p-149f);
}
