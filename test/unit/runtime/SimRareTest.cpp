// Instructions of the simulator that compilers emit seldom, against the host's arithmetic.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimLanes.h"

#include <cmath>

using namespace nereid;

TEST(SimRare, productsWithCarries) {
  expectLanes("mad.lo.cc.u32 %t0, %r0, %r1, %r2; madc.hi.u32 %r3, %r0, %r1, 5;",
              [](uint64_t a, uint64_t b, uint64_t c) {
                const uint64_t product = uint64_t{uint32_t(a)} * uint32_t(b);
                return (product >> 32) + 5 + ((uint64_t{uint32_t(product)} + uint32_t(c)) >> 32);
              });
  expectLanes(
      "mad.lo.cc.u64 %u0, %q0, %q1, %q2; madc.lo.s64 %q3, %q1, 3, 0;",
      [](uint64_t a, uint64_t b, uint64_t c) { return b * 3 + (a * b + c < c); }, true);
  expectLanes("mad.hi.sat.s32 %r3, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    const int64_t sum = (int64_t{int32_t(a)} * int32_t(b) >> 32) + int32_t(c);
    return uint64_t(std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, sum)));
  });
  expectLanes("mad24.hi.u32 %r3, %r0, %r1, %r2;",
              [](uint64_t a, uint64_t b, uint64_t c) { return ((a & 0xffffff) * (b & 0xffffff) >> 16) + c; });
}

TEST(SimRare, dotProductsOfHalvesAndBytes) {
  expectLanes("dp2a.lo.s32.u32 %r3, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    return uint64_t(int64_t{int16_t(a)} * uint8_t(b) + int64_t{int16_t(a >> 16)} * uint8_t(b >> 8)) + c;
  });
  expectLanes("dp2a.hi.u32.s32 %r3, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    return uint64_t(int64_t{uint16_t(a)} * int8_t(b >> 16) + int64_t{uint16_t(a >> 16)} * int8_t(b >> 24)) + c;
  });
}

static uint64_t extended(uint64_t a, uint64_t width, bool isSigned) {
  if (width == 0)
    return 0;
  const uint64_t field = width >= 32 ? uint32_t(a) : a & ((uint64_t{1} << width) - 1);
  const bool isNegative = isSigned && width < 32 && field >> (width - 1) & 1;
  return isNegative ? field - (uint64_t{1} << width) : field;
}

TEST(SimRare, extensions) {
  expectLanes("szext.clamp.s32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return extended(a, uint32_t(b), true); });
  expectLanes("szext.wrap.u32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return extended(a, b & 31, false); });
}

/// Counts set bits upwards or downwards, by looking at every position.
static uint64_t nthSet(uint32_t mask, uint32_t base, int32_t offset) {
  for (uint32_t at = 0; at < 32; ++at) {
    if (!(mask >> at & 1))
      continue;
    int64_t rank = 0; // of `at` among the set bits from `base` on
    if (at >= base)
      for (uint32_t bit = base; bit <= at; ++bit)
        rank += mask >> bit & 1;
    else
      continue;
    if (offset > 0 ? rank == offset : offset == 0 && at == base)
      return at;
  }
  for (uint32_t at = 0; at <= base && at < 32 && offset < 0; ++at) {
    int64_t rank = 0;
    for (uint32_t bit = at; bit <= base; ++bit)
      rank += mask >> bit & 1;
    if (mask >> at & 1 && rank == -int64_t{offset})
      return at;
  }
  return ~0u;
}

TEST(SimRare, nthSetBit) {
  for (int offset : {0, 1, 2, 5, -1, -3})
    expectLanes("and.b32 %t0, %r1, 31; fns.b32 %r3, %r0, %t0, " + std::to_string(offset) + ";",
                [offset](uint64_t a, uint64_t b, uint64_t) { return nthSet(uint32_t(a), b & 31, offset); });
}

TEST(SimRare, logicWithAPredicate) {
  expectLanes("setp.eq.u32 %p0, %r2, 1; lop3.or.b32 %t0|%p1, %r0, %r1, %r2, 0x80, %p0; selp.b32 %r3, 1, %t0, %p1;",
              [](uint64_t a, uint64_t b, uint64_t c) {
                return uint32_t(a & b & c) || uint32_t(c) == 1 ? uint64_t{1} : uint64_t{0};
              });
  expectLanes("setp.eq.u32 %p0, %r2, 1; lop3.and.b32 _|%p1, %r0, %r1, %r2, 0xfe, %p0; selp.b32 %r3, 1, 0, %p1;",
              [](uint64_t, uint64_t, uint64_t c) { return uint64_t{uint32_t(c) == 1}; });
}

TEST(SimRare, packedExtremaWithoutNegativeNumbers) {
  const auto half = [](uint64_t a, uint64_t b, unsigned shift) {
    return uint64_t{uint16_t(std::max<int16_t>(std::min(int16_t(a >> shift), int16_t(b >> shift)), 0))} << shift;
  };
  expectLanes("min.relu.s16x2 %r3, %r0, %r1;",
              [half](uint64_t a, uint64_t b, uint64_t) { return half(a, b, 0) | half(a, b, 16); });
}

TEST(SimRare, extremaOfMagnitudes) {
  expectLanes("max.ftz.xorsign.abs.f32 %r3, %r0, %r1;", [](uint64_t a, uint64_t b, uint64_t) {
    const auto number = [](uint64_t bits) {
      return std::bit_cast<float>(uint32_t(bits & 0x7f800000 ? bits & 0x7fffffff : 0));
    };
    const float x = number(a), y = number(b);
    const uint32_t sign = uint32_t(a ^ b) & 0x80000000;
    if (std::isnan(x) && std::isnan(y))
      return uint64_t{0x7fffffff | sign};
    return uint64_t{std::bit_cast<uint32_t>(std::fmax(x, y)) | sign};
  });
}

TEST(SimRare, comparisonsAsNumbers) {
  const auto less = [](uint64_t a, uint64_t b, unsigned shift) {
    return std::bit_cast<_Float16>(uint16_t(a >> shift)) < std::bit_cast<_Float16>(uint16_t(b >> shift));
  };
  expectLanes("set.lt.f16x2.f16x2 %r3, %r0, %r1;", [less](uint64_t a, uint64_t b, uint64_t) {
    return (less(a, b, 0) ? uint64_t{0x3c00} : 0) | (less(a, b, 16) ? uint64_t{0x3c000000} : 0);
  });
  expectLanes("set.lt.u16.f16 %h3, %h0, %h1; cvt.u32.u16 %r3, %h3;",
              [less](uint64_t a, uint64_t b, uint64_t) { return less(a, b, 0) ? uint64_t{0xffff} : 0; });
  expectLanes("set.ne.bf16.bf16 %h3, %h0, %h0; cvt.u32.u16 %r3, %h3;",
              [](uint64_t, uint64_t, uint64_t) { return uint64_t{0}; });
}

TEST(SimRare, indexedBranch) {
  expectLanes(R"(
    rem.u32 %t0, %r0, 5;
    mov.u32 %r3, 99;
    setp.lt.u32 %p0, %t0, 4;
    targets: .branchtargets ZERO, ONE, TWO, ONE;
    @%p0 brx.idx %t0, targets;
    bra OUT;
ZERO:
    mov.u32 %r3, 10;
    bra OUT;
TWO:
    mov.u32 %r3, 12;
    bra OUT;
ONE:
    mov.u32 %r3, 11;
OUT:)",
              [](uint64_t a, uint64_t, uint64_t) {
                constexpr uint64_t values[] = {10, 11, 12, 11, 99};
                return values[uint32_t(a) % 5];
              });
}

/// With one GPU a multimem address stands for one place.
TEST(SimRare, multimem) {
  std::vector<float> memory = {1, 2, 3, 4, 5};
  float sum = 0;
  const std::string ptx = simKernel(".param .u64 memory, .param .u64 sum", R"(
    .reg .b64 %a, %b; .reg .f32 %f<4>;
    ld.param.u64 %a, [memory];
    ld.param.u64 %b, [sum];
    multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%a];
    multimem.st.relaxed.sys.global.f32 [%a+4], %f2;
    multimem.red.relaxed.sys.global.add.f32 [%a], %f3;
    ld.global.f32 %f0, [%a];
    st.global.f32 [%b], %f0;
    ret;)");
  SimArguments arguments;
  arguments.add(memory.data()).add(&sum);
  auto counters = runSim(ptx, arguments, {}, {.x = 1});
  ASSERT_TRUE(counters) << counters.error().text;
  EXPECT_EQ(memory, (std::vector<float>{5, 3, 3, 4, 5}));
  EXPECT_EQ(sum, 5);
}
