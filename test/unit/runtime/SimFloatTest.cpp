// Floating-point instructions and conversions of the simulator.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimLanes.h"

#include <bit>
#include <cfenv>
#include <cmath>

using namespace nereid;

static float asFloat(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
static uint64_t bitsOf(float value) { return value != value ? 0x7fffffffu : std::bit_cast<uint32_t>(value); }

/// The result of one instruction for given inputs.
static uint64_t resultOf(const std::string &code, uint64_t a, uint64_t b = 0, uint64_t c = 0, bool isWide = false) {
  return simLanes(code, {{a, b, c}}, isWide)[0];
}

TEST(SimFloat, roundsToNearest) {
  expectLanes("add.f32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return bitsOf(asFloat(a) + asFloat(b)); });
  expectLanes("mul.rn.f32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return bitsOf(asFloat(a) * asFloat(b)); });
  expectLanes("fma.rn.f32 %r3, %r0, %r1, %r2;",
              [](uint64_t a, uint64_t b, uint64_t c) { return bitsOf(std::fma(asFloat(a), asFloat(b), asFloat(c))); });
  expectLanes("div.rn.f32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return bitsOf(asFloat(a) / asFloat(b)); });
}

TEST(SimFloat, roundsInOtherDirections) {
  const uint64_t one = bitsOf(1), tiny = bitsOf(1e-20f);
  EXPECT_EQ(resultOf("add.rz.f32 %r3, %r0, %r1;", one, tiny), one);
  EXPECT_EQ(resultOf("add.rp.f32 %r3, %r0, %r1;", one, tiny), one + 1);
  EXPECT_EQ(resultOf("sub.rm.f32 %r3, %r0, %r1;", one, tiny), one - 1);
  EXPECT_EQ(resultOf("sub.rn.f32 %r3, %r0, %r1;", one, tiny), one);
}

TEST(SimFloat, flushesAndSaturates) {
  EXPECT_EQ(resultOf("add.ftz.f32 %r3, %r0, %r1;", 0x80000001, 0x80000001), 0x80000000u);
  EXPECT_EQ(resultOf("add.f32 %r3, %r0, %r1;", 1, 1), 2u);
  EXPECT_EQ(resultOf("mul.sat.f32 %r3, %r0, %r1;", bitsOf(3), bitsOf(2)), bitsOf(1));
  EXPECT_EQ(resultOf("mul.sat.f32 %r3, %r0, %r1;", bitsOf(NAN), bitsOf(2)), 0u);
}

TEST(SimFloat, extremaAndNan) {
  const uint64_t nan = 0x7fc00000, one = bitsOf(1), minusZero = 0x80000000;
  EXPECT_EQ(resultOf("max.f32 %r3, %r0, %r1;", nan, one), one);
  EXPECT_EQ(resultOf("max.NaN.f32 %r3, %r0, %r1;", nan, one), 0x7fffffffu);
  EXPECT_EQ(resultOf("min.f32 %r3, %r0, %r1;", 0, minusZero), minusZero);
  EXPECT_EQ(resultOf("max.f32 %r3, %r0, %r1;", minusZero, 0), 0u);
  EXPECT_EQ(resultOf("setp.ltu.f32 %p0, %r0, %r1; selp.u32 %r3, 1, 0, %p0;", nan, one), 1u);
  EXPECT_EQ(resultOf("setp.ne.f32 %p0, %r0, %r1; selp.u32 %r3, 1, 0, %p0;", nan, one), 0u);
}

TEST(SimFloat, approximations) {
  const auto near = [](const char *code, float input, double expected) {
    EXPECT_NEAR(asFloat(resultOf(code, bitsOf(input))), expected, std::abs(expected) * 2.4e-7 + 1e-45) << code << input;
  };
  for (float value : {-149.0f, -130.5f, -3.25f, 0.0f, 0.3f, 1.0f, 88.7f, 127.9f})
    near("ex2.approx.f32 %r3, %r0;", value, std::exp2(double(value)));
  near("lg2.approx.f32 %r3, %r0;", 10, std::log2(10.0));
  near("rsqrt.approx.f32 %r3, %r0;", 3, 1 / std::sqrt(3.0));
  near("tanh.approx.f32 %r3, %r0;", 0.7f, std::tanh(double(0.7f)));
  EXPECT_EQ(resultOf("ex2.approx.ftz.f32 %r3, %r0;", bitsOf(-INFINITY)), 0u);
  EXPECT_EQ(resultOf("ex2.approx.ftz.f32 %r3, %r0;", bitsOf(200)), bitsOf(INFINITY));
}

TEST(SimFloat, halves) {
  // 1 + 2^-11 rounds to even; 2048 * 1.0 + 1 in bf16.
  EXPECT_EQ(resultOf("add.f16 %h3, %h0, %h1; cvt.u32.u16 %r3, %h3;", 0x3c00, 0x1000), 0x3c00u);
  EXPECT_EQ(resultOf("fma.rn.f16x2 %r3, %r0, %r1, %r2;", 0x40003c00, 0x42003c00, 0x3c003c00), 0x47004000u);
  EXPECT_EQ(resultOf("fma.rn.bf16x2 %r3, %r0, %r1, %r2;", 0x40003f80, 0x40403f80, 0x3f803f80), 0x40e04000u);
  EXPECT_EQ(resultOf("max.f16x2 %r3, %r0, %r1;", 0x7e00c000, 0x3c003c00), 0x3c003c00u);
}

TEST(SimFloat, conversions) {
  EXPECT_EQ(resultOf("cvt.rn.f16.f32 %h3, %r0; cvt.u32.u16 %r3, %h3;", bitsOf(65520)), 0x7c00u);
  EXPECT_EQ(resultOf("cvt.rz.f16.f32 %h3, %r0; cvt.u32.u16 %r3, %h3;", bitsOf(65520)), 0x7bffu);
  EXPECT_EQ(resultOf("cvt.rn.bf16x2.f32 %r3, %r0, %r1;", bitsOf(2), bitsOf(-1)), 0x4000bf80u);
  EXPECT_EQ(resultOf("cvt.rzi.s32.f32 %r3, %r0;", bitsOf(-2.7f)), uint32_t(-2));
  EXPECT_EQ(resultOf("cvt.rni.s32.f32 %r3, %r0;", bitsOf(2.5f)), 2u);
  EXPECT_EQ(resultOf("cvt.rzi.s32.f32 %r3, %r0;", bitsOf(3e9f)), 0x7fffffffu);
  EXPECT_EQ(resultOf("cvt.rzi.u32.f32 %r3, %r0;", bitsOf(-3)), 0u);
  EXPECT_EQ(resultOf("cvt.rpi.f32.f32 %r3, %r0;", bitsOf(1.2f)), bitsOf(2));
  EXPECT_EQ(resultOf("cvt.rn.f32.u64 %r3, %q0;", ~uint64_t{0}), bitsOf(18446744073709551616.0f));
  EXPECT_EQ(resultOf("cvt.rna.tf32.f32 %r3, %r0;", 0x3f801000), 0x3f802000u);
  EXPECT_EQ(resultOf("cvt.rn.satfinite.e4m3x2.f32 %h3, %r0, %r1; cvt.u32.u16 %r3, %h3;", bitsOf(1000), bitsOf(-0.5f)),
            0x7eb0u);
  EXPECT_EQ(resultOf("cvt.rn.satfinite.e5m2x2.f32 %h3, %r0, %r1; cvt.u32.u16 %r3, %h3;", bitsOf(1), bitsOf(NAN)),
            0x3c7fu);
  EXPECT_EQ(resultOf("cvt.rn.f16x2.e4m3x2 %r3, %h0;", 0x38c0), 0x3c00c000u);
  EXPECT_EQ(resultOf("cvt.sat.u8.s32 %r3, %r0;", uint32_t(-5)), 0u);
  EXPECT_EQ(resultOf("cvt.s8.s32 %h3, %r0; cvt.s32.s16 %r3, %h3;", 0x1f0), 0xfffffff0u);
  EXPECT_EQ(resultOf("cvt.s32.s8 %r3, %r0;", 0x1ff), 0xffffffffu);
  EXPECT_EQ(resultOf("cvt.rn.f64.s64 %q3, %q0;", uint64_t(-3), 0, 0, true), std::bit_cast<uint64_t>(-3.0));
}
