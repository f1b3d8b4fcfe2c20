// Executes a few instructions in every lane of a warp of the simulator, on 64-bit inputs.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/runtime/SimKernel.h"

#include <array>

namespace nereid {

using SimInputs = std::vector<std::array<uint64_t, 3>>;

/// `code` computes %q3 (64 bits) or %r3 (32 bits) from %q0 to %q2, or %r0 to %r2, their low halves. Further registers:
/// %h0 to %h3 (16 bits), %t0 to %t3 (32), %u0 to %u3 (64), %p0 to %p3.
inline std::vector<uint64_t> simLanes(const std::string &code, const SimInputs &inputs, bool isWide = false) {
  const std::string ptx = simKernel(".param .u64 in, .param .u64 out, .param .u32 n", R"(
    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b32 %t<4>; .reg .b64 %q<4>; .reg .b64 %u<4>;
    .reg .b32 %i; .reg .b32 %n; .reg .b64 %a; .reg .b64 %o; .reg .pred %past;
    mov.u32 %i, %tid.x;
    ld.param.u32 %n, [n];
    setp.ge.u32 %past, %i, %n;
    @%past exit;
    ld.param.u64 %a, [in];
    mad.wide.u32 %a, %i, 24, %a;
    ld.global.u64 %q0, [%a];
    ld.global.u64 %q1, [%a+8];
    ld.global.u64 %q2, [%a+16];
    cvt.u32.u64 %r0, %q0;
    cvt.u32.u64 %r1, %q1;
    cvt.u32.u64 %r2, %q2;
    cvt.u16.u64 %h0, %q0;
    cvt.u16.u64 %h1, %q1;
    cvt.u16.u64 %h2, %q2;
    )" + code + (isWide ? "" : "\n    cvt.u64.u32 %q3, %r3;") +
                                                                                          R"(
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %i, 8, %o;
    st.global.u64 [%o], %q3;
    ret;)");
  std::vector<uint64_t> out(inputs.size());
  SimArguments arguments;
  arguments.add(inputs.data()).add(out.data()).add(uint32_t(inputs.size()));
  auto counters = runSim(ptx, arguments, {}, {.x = uint32_t(inputs.size())});
  EXPECT_TRUE(counters) << counters.error().text;
  return out;
}

/// Pairs and triples of numbers that are at the edges of types, and random ones.
inline SimInputs simEdges(uint64_t seed = 1) {
  static constexpr uint64_t edges[] = {0,
                                       1,
                                       2,
                                       31,
                                       32,
                                       33,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x7fffffffffffffff,
                                       0x8000000000000000,
                                       ~uint64_t{0}};
  SimInputs inputs;
  for (unsigned index = 0; index < 512; ++index) {
    std::array<uint64_t, 3> &values = inputs.emplace_back();
    for (uint64_t &value : values) {
      seed = seed * 6364136223846793005 + 1442695040888963407;
      value = seed >> 60 & 1 ? edges[(seed >> 33) % std::size(edges)] : seed ^ seed >> 29;
    }
  }
  return inputs;
}

template <typename F> void expectLanes(const std::string &code, F expected, bool isWide = false) {
  const SimInputs inputs = simEdges();
  const std::vector<uint64_t> out = simLanes(code, inputs, isWide);
  for (size_t index = 0; index < inputs.size(); ++index) {
    const auto [a, b, c] = inputs[index];
    uint64_t want = expected(a, b, c);
    if (!isWide)
      want = uint32_t(want);
    ASSERT_EQ(out[index], want) << code << " of " << std::hex << a << ", " << b << ", " << c;
  }
}

} // namespace nereid
