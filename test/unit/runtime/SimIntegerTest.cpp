// Integer and bitwise instructions of the simulator against the host's arithmetic.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimLanes.h"

using namespace nereid;

TEST(SimInteger, arithmetic) {
  expectLanes("add.s32 %r3, %r0, %r1;", [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expectLanes("sub.s64 %q3, %q0, %q1;", [](uint64_t a, uint64_t b, uint64_t) { return a - b; }, true);
  expectLanes("mul.lo.s64 %q3, %q0, %q1;", [](uint64_t a, uint64_t b, uint64_t) { return a * b; }, true);
  expectLanes(
      "mul.wide.s32 %q3, %r0, %r1;",
      [](uint64_t a, uint64_t b, uint64_t) { return uint64_t(int64_t{int32_t(a)} * int32_t(b)); }, true);
  expectLanes(
      "mad.wide.u32 %q3, %r0, %r1, %q2;",
      [](uint64_t a, uint64_t b, uint64_t c) { return uint64_t{uint32_t(a)} * uint32_t(b) + c; }, true);
  expectLanes(
      "mul.hi.u64 %q3, %q0, %q1;",
      [](uint64_t a, uint64_t b, uint64_t) { return uint64_t(static_cast<unsigned __int128>(a) * b >> 64); }, true);
  expectLanes("mul.hi.s32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return uint64_t(int64_t{int32_t(a)} * int32_t(b) >> 32); });
  expectLanes("mul24.lo.s32 %r3, %r0, %r1;", [](uint64_t a, uint64_t b, uint64_t) {
    return uint64_t((int64_t(a << 40) >> 40) * (int64_t(b << 40) >> 40));
  });
  expectLanes("add.sat.s32 %r3, %r0, %r1;", [](uint64_t a, uint64_t b, uint64_t) {
    const int64_t sum = int64_t{int32_t(a)} + int32_t(b);
    return uint64_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
  expectLanes("min.s16 %h3, %h0, %h1; cvt.u32.u16 %r3, %h3;",
              [](uint64_t a, uint64_t b, uint64_t) { return uint64_t{uint16_t(std::min(int16_t(a), int16_t(b)))}; });
  expectLanes("add.cc.u32 %t0, %r0, %r1; addc.u32 %r3, %r2, 0;",
              [](uint64_t a, uint64_t b, uint64_t c) { return c + ((uint64_t{uint32_t(a)} + uint32_t(b)) >> 32); });
}

TEST(SimInteger, division) {
  expectLanes("or.b32 %t0, %r1, 1; div.s32 %r3, %r0, %t0;",
              [](uint64_t a, uint64_t b, uint64_t) { return uint64_t(int64_t{int32_t(a)} / int32_t(b | 1)); });
  expectLanes(
      "or.b64 %u0, %q1, 1; rem.u64 %q3, %q0, %u0;", [](uint64_t a, uint64_t b, uint64_t) { return a % (b | 1); }, true);
}

TEST(SimInteger, shiftsAndFields) {
  expectLanes("shl.b32 %r3, %r0, %r1;", [](uint64_t a, uint64_t b, uint64_t) {
    return uint32_t(b) > 31 ? 0 : uint64_t{uint32_t(a)} << uint32_t(b);
  });
  expectLanes("shr.s32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return uint64_t(int32_t(a) >> std::min(uint32_t(b), 31u)); });
  expectLanes("shf.l.wrap.b32 %r3, %r0, %r1, %r2;",
              [](uint64_t a, uint64_t b, uint64_t c) { return (b << 32 | uint32_t(a)) << (c & 31) >> 32; });
  expectLanes("shf.r.clamp.b32 %r3, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t by = std::min(uint32_t(c), 32u);
    return (b << 32 | uint32_t(a)) >> by;
  });
  expectLanes(
      "and.b32 %t0, %r1, 31; and.b32 %t1, %r2, 15; bfe.u32 %r3, %r0, %t0, %t1;",
      [](uint64_t a, uint64_t b, uint64_t c) { return uint64_t{uint32_t(a)} >> (b & 31) & ((1u << (c & 15)) - 1); });
  expectLanes("bfe.s32 %r3, %r0, 28, 8;", [](uint64_t a, uint64_t, uint64_t) { return uint64_t(int32_t(a) >> 28); });
  expectLanes("bfi.b32 %r3, %r0, %r1, 4, 8;",
              [](uint64_t a, uint64_t b, uint64_t) { return (b & ~uint64_t{0xff0}) | (a << 4 & 0xff0); });
  expectLanes("prmt.b32 %r3, %r0, %r1, 0x7150;", [](uint64_t a, uint64_t b, uint64_t) {
    return (a & 0xff) | (b >> 8 & 0xff) << 8 | (a >> 8 & 0xff) << 16 | (b >> 24 & 0xff) << 24;
  });
  expectLanes("prmt.b32 %r3, %r0, %r1, 0x0008;",
              [](uint64_t a, uint64_t, uint64_t) { return (a & 0x80 ? 0xff : 0) | (a & 0xff) * 0x01010100; });
  expectLanes("lop3.b32 %r3, %r0, %r1, %r2, 0x96;", [](uint64_t a, uint64_t b, uint64_t c) { return a ^ b ^ c; });
  expectLanes("lop3.b32 %r3, %r0, %r1, %r2, 0xEA;", [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | c; });
  expectLanes("popc.b64 %r3, %q0;", [](uint64_t a, uint64_t, uint64_t) { return uint64_t(__builtin_popcountll(a)); });
  expectLanes("clz.b32 %r3, %r0;",
              [](uint64_t a, uint64_t, uint64_t) { return uint64_t(uint32_t(a) ? __builtin_clz(uint32_t(a)) : 32); });
}

TEST(SimInteger, comparisons) {
  expectLanes("setp.lt.s32 %p0, %r0, %r1; selp.b32 %r3, %r0, %r1, %p0;",
              [](uint64_t a, uint64_t b, uint64_t) { return int32_t(a) < int32_t(b) ? a : b; });
  expectLanes(
      "setp.gt.u64 %p0, %q2, 5; setp.hi.and.u64 %p1|%p2, %q0, %q1, %p0;\n"
      "selp.u32 %t0, 1, 0, %p1; selp.u32 %t1, 2, 0, %p2; or.b32 %r3, %t0, %t1;",
      [](uint64_t a, uint64_t b, uint64_t c) { return uint64_t(a > b && c > 5) | uint64_t(a <= b && c > 5) << 1; });
  expectLanes("set.ne.u32.s32 %r3, %r0, %r1;",
              [](uint64_t a, uint64_t b, uint64_t) { return uint32_t(a) != uint32_t(b) ? ~uint64_t{0} : 0; });
  expectLanes("mov.b32 {%h1, %h2}, %r0; mov.b32 %r3, {%h2, %h1};",
              [](uint64_t a, uint64_t, uint64_t) { return (a & 0xffff) << 16 | (a >> 16 & 0xffff); });
}
