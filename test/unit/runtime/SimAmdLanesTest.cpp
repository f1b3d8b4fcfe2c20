// Cross-lane instructions of AMD's GPUs, by the tables of the ISA documents; waves that diverge.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimAmd.h"

#include <functional>

using namespace nereid;

namespace {
/// The lane that a lane's %o0 must come from, -1: `otherwise` of its inputs.
using Source = std::function<int(int)>;

/// Two waves; the value is %r0.
void expectSources(unsigned waveLanes, const std::string &code, const LaneWords &inputs, Source source,
                   std::function<uint32_t(const std::vector<uint32_t> &)> otherwise) {
  auto results = runWaves(waveLanes, code, inputs, 1);
  ASSERT_TRUE(results) << code << ": " << results.error().text;
  for (unsigned lane = 0; lane < inputs.size(); ++lane) {
    const unsigned first = lane / waveLanes * waveLanes;
    const int from = source(int(lane - first));
    ASSERT_EQ((*results)[lane][0], from < 0 ? otherwise(inputs[lane]) : inputs[first + unsigned(from)][0])
        << code << " lane " << lane;
  }
}
uint32_t zero(const std::vector<uint32_t> &) { return 0; }
uint32_t second(const std::vector<uint32_t> &lane) { return lane[1]; }

struct Control {
  unsigned code;
  Source source;
};
const Control kControls[] = {
    {0x1b, [](int i) { return i / 4 * 4 + 3 - i % 4; }},          // quad_perm:[3,2,1,0]
    {0xb1, [](int i) { return i ^ 1; }},                          // quad_perm:[1,0,3,2]
    {0x101, [](int i) { return i % 16 == 15 ? -1 : i + 1; }},     // row_shl:1
    {0x10f, [](int i) { return i % 16 ? -1 : i + 15; }},          // row_shl:15
    {0x114, [](int i) { return i % 16 < 4 ? -1 : i - 4; }},       // row_shr:4
    {0x121, [](int i) { return i % 16 ? i - 1 : i + 15; }},       // row_ror:1
    {0x128, [](int i) { return i ^ 8; }},                         // row_ror:8
    {0x140, [](int i) { return i / 16 * 16 + 15 - i % 16; }},     // row_mirror
    {0x141, [](int i) { return i / 8 * 8 + 7 - i % 8; }},         // row_half_mirror
    {0x142, [](int i) { return i < 16 ? -1 : i / 16 * 16 - 1; }}, // row_bcast:15
    {0x143, [](int i) { return i < 32 ? -1 : 31; }},              // row_bcast:31
    {0x153, [](int i) { return i / 16 * 16 + 3; }},               // row_share:3
    {0x165, [](int i) { return i / 16 * 16 + (i % 16 ^ 5); }},    // row_xmask:5
};
} // namespace

TEST(SimAmdLanes, dppControls) {
  for (const unsigned lanes : {32u, 64u})
    for (const Control &control : kControls) {
      const std::string head = "amd.dpp.b32 %o0, %r1, %r0, " + std::to_string(control.code) + ", 15, 15, ";
      expectSources(lanes, head + "0;", randomLanes(2 * lanes, 2), control.source, second);
      expectSources(lanes, head + "1;", randomLanes(2 * lanes, 2), control.source, zero);
    }
}

TEST(SimAmdLanes, dppWavesOfNine) {
  const Control controls[] = {{0x130, [](int i) { return i == 63 ? -1 : i + 1; }},
                              {0x134, [](int i) { return (i + 1) % 64; }},
                              {0x138, [](int i) { return i - 1; }},
                              {0x13c, [](int i) { return (i + 63) % 64; }}};
  for (const Control &control : controls)
    expectSources(64, "amd.dpp.b32 %o0, %r1, %r0, " + std::to_string(control.code) + ", 15, 15, 0;",
                  randomLanes(128, 2), control.source, second);
}

/// Rows and banks that a mask leaves out keep the old value, whatever the bound control says.
TEST(SimAmdLanes, dppMasks) {
  expectSources(
      64, "amd.dpp.b32 %o0, %r1, %r0, 177, 10, 5, 1;", randomLanes(128, 2),
      [](int i) { return (i / 16 == 1 || i / 16 == 3) && i / 4 % 2 == 0 ? i ^ 1 : -1; }, second);
}

TEST(SimAmdLanes, swizzle) {
  // and, or, xor of the lane in its half of a wave
  expectSources(64, "amd.ds_swizzle.b32 %o0, %r0, 31775;", randomLanes(128, 1), [](int i) { return i ^ 31; }, zero);
  expectSources(
      32, "amd.ds_swizzle.b32 %o0, %r0, " + std::to_string(0x1c | 2 << 5 | 4 << 10) + ";", randomLanes(64, 1),
      [](int i) { return ((i & 0x1c) | 2) ^ 4; }, zero);
  // quads
  expectSources(
      64, "amd.ds_swizzle.b32 %o0, %r0, " + std::to_string(0x8000 | 0x4e) + ";", randomLanes(128, 1),
      [](int i) { return i ^ 2; }, zero);
}

TEST(SimAmdLanes, bpermute) {
  for (const unsigned lanes : {32u, 64u})
    expectSources(
        lanes, "mad.lo.u32 %t0, %lane, 28, 52; amd.ds_bpermute.b32 %o0, %t0, %r0;", randomLanes(2 * lanes, 1),
        [&](int i) { return (i * 7 + 13) % int(lanes); }, zero);
}

/// Lanes that are not active give 0: here all odd ones.
TEST(SimAmdLanes, bpermuteOfInactiveLanes) {
  const std::string code = R"(
    and.b32 %t1, %lane, 1;
    setp.ne.u32 %p0, %t1, 0;
    mad.lo.u32 %t0, %lane, 4, 12;
    mov.b32 %o0, 7;
    and.b32 %t2, %lane, 2;
    setp.ne.u32 %p1, %t2, 0;
    @%p1 add.u32 %t0, %t0, 4;
    @%p0 bra odd;
    amd.ds_bpermute.b32 %o0, %t0, %r0;
odd:
    add.u32 %t3, %t3, 1;)";
  const LaneWords inputs = randomLanes(128, 1);
  auto results = runWaves(64, code, inputs, 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 128; ++lane) {
    const unsigned from = (lane + 3 + (lane & 2 ? 1 : 0)) % 64;
    const uint32_t expected = lane % 2 ? 7 : from % 2 ? 0 : inputs[lane / 64 * 64 + from][0];
    EXPECT_EQ((*results)[lane][0], expected) << lane;
  }
}

/// A loop that each lane leaves at its own time: an exchange sees the lanes that are still in it.
TEST(SimAmdLanes, exchangeInDivergentLoop) {
  const std::string code = R"(
    and.b32 %t0, %lane, 7;
    xor.b32 %t1, %lane, 33;
    shl.b32 %t1, %t1, 2;
    mov.b32 %t2, %r0;
loop:
    amd.ds_bpermute.b32 %t3, %t1, %t2;
    add.u32 %t2, %t2, %t3;
    sub.u32 %t0, %t0, 1;
    setp.ge.s32 %p0, %t0, 0;
    @%p0 bra loop;
    mov.b32 %o0, %t2;)";
  const LaneWords inputs = randomLanes(64, 1);
  auto results = runWaves(64, code, inputs, 1);
  ASSERT_TRUE(results) << results.error().text;
  std::vector<uint32_t> values;
  for (const auto &lane : inputs)
    values.push_back(lane[0]);
  for (int pass = 0; pass < 8; ++pass) {
    const std::vector<uint32_t> before = values;
    for (unsigned lane = 0; lane < 64; ++lane)
      if (int(lane % 8) >= pass)
        values[lane] += int((lane ^ 33) % 8) >= pass ? before[lane ^ 33] : 0;
  }
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ((*results)[lane][0], values[lane]) << lane;
}

TEST(SimAmdLanes, permute) {
  // lane i sends to 5 * i + 3
  expectSources(
      64, "mad.lo.u32 %t0, %lane, 20, 12; amd.ds_permute.b32 %o0, %t0, %r0;", randomLanes(128, 1),
      [](int i) { return (i - 3 + 64) * 13 % 64; }, zero);
}

TEST(SimAmdLanes, readLanes) {
  expectSources(64, "amd.readfirstlane.b32 %o0, %r0;", randomLanes(128, 1), [](int) { return 0; }, zero);
  expectSources(64, "amd.readlane.b32 %o0, %r0, 37;", randomLanes(128, 1), [](int) { return 37; }, zero);
  // the first lane that takes part is 40
  auto results = runWaves(
      64, "setp.lt.u32 %p0, %lane, 40; @%p0 bra past; amd.readfirstlane.b32 %o0, %r0;\npast:", randomLanes(64, 1), 1);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ((*results)[63][0], randomLanes(64, 1)[40][0]);
  EXPECT_EQ((*results)[39][0], 0u);
}

TEST(SimAmdLanes, writeLane) {
  const LaneWords inputs = randomLanes(64, 2);
  auto results = runWaves(64, "amd.writelane.b32 %o0, %r0, 35, %r1;", inputs, 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ((*results)[lane][0], lane == 35 ? inputs[0][0] : inputs[lane][1]);
}

TEST(SimAmdLanes, permlanes) {
  // selectors of a rotation by 1: lane i of a row takes i + 1
  const std::string selectors = "mov.b32 %t0, 0x87654321; mov.b32 %t1, 0x0fedcba9; ";
  expectSources(
      32, selectors + "amd.permlane16.b32 %o0, %r1, %r0, %t0, %t1, 0;", randomLanes(64, 2),
      [](int i) { return i / 16 * 16 + (i + 1) % 16; }, second);
  expectSources(
      32, selectors + "amd.permlanex16.b32 %o0, %r1, %r0, %t0, %t1, 0;", randomLanes(64, 2),
      [](int i) { return (1 - i / 16) * 16 + (i + 1) % 16; }, second);
  expectSources(64, "amd.permlane64.b32 %o0, %r0;", randomLanes(128, 1), [](int i) { return (i + 32) % 64; }, zero);
}

TEST(SimAmdLanes, swaps) {
  const LaneWords inputs = randomLanes(64, 2);
  for (const unsigned group : {16u, 32u}) {
    auto results = runWaves(64, "amd.permlane" + std::to_string(group) + "_swap.b32 %o0, %o1, %r0, %r1;", inputs, 2);
    ASSERT_TRUE(results) << results.error().text;
    LaneWords expected = inputs;
    for (unsigned lane = 0; lane < 64; ++lane)
      if (lane / group % 2)
        std::swap(expected[lane][0], expected[lane - group][1]);
    EXPECT_EQ(*results, expected);
  }
}

TEST(SimAmdLanes, ballot) {
  LaneWords inputs = randomLanes(64, 1);
  uint64_t expected = 0;
  for (unsigned lane = 0; lane < 64; ++lane)
    expected |= uint64_t{(inputs[lane][0] &= 1)} << lane;
  auto results = runWaves(64, "amd.ballot.b64 %q0, %r0; mov.b64 {%o0, %o1}, %q0;", inputs, 2);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ((*results)[lane][0] | uint64_t{(*results)[lane][1]} << 32, expected);
}

//--- waves ---------------------------------------------------------------------------------

/// Lanes that have ended count as inactive.
TEST(SimAmdLanes, lanesThatHaveEnded) {
  const LaneWords inputs = randomLanes(64, 1);
  auto results = runWaves(64,
                          "setp.ge.u32 %p0, %lane, 50; @%p0 exit; xor.b32 %t0, %lane, 16; shl.b32 %t0, %t0, 2; "
                          "amd.ds_bpermute.b32 %o0, %t0, %r0;",
                          inputs, 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 50; ++lane)
    EXPECT_EQ((*results)[lane][0], (lane ^ 16) < 50 ? inputs[lane ^ 16][0] : 0) << lane;
}

/// A barrier counts waves: half of a wave at one, the other half at another, are two arrivals of the same wave.
TEST(SimAmdLanes, barrierCountsWaves) {
  const std::string code = "setp.ge.u32 %p0, %lane, 16; @%p0 bra other; amd.s_barrier; mov.b32 %o0, 1; bra end;\n"
                           "other: amd.s_barrier; mov.b32 %o0, 2;\nend: amd.s_barrier;";
  auto results = runWaves(64, code, randomLanes(64, 1), 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ((*results)[lane][0], lane < 16 ? 1u : 2u);
}

/// Half of a wave leaves a barrier, goes round the loop and waits there again before the other half has left.
TEST(SimAmdLanes, barrierInLoop) {
  const std::string code = R"(
    mov.b32 %t0, 3;
    xor.b32 %t1, %lane, 1;
    shl.b32 %t1, %t1, 2;
    and.b32 %t2, %lane, 32;
    setp.eq.u32 %p0, %t2, 0;
loop:
    amd.s_barrier;
    @%p0 bra next;
    amd.ds_bpermute.b32 %t3, %t1, %r0;
    add.u32 %o0, %o0, %t3;
next:
    sub.u32 %t0, %t0, 1;
    setp.ne.u32 %p1, %t0, 0;
    @%p1 bra loop;)";
  const LaneWords inputs = randomLanes(128, 1);
  auto results = runWaves(64, code, inputs, 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 128; ++lane)
    EXPECT_EQ((*results)[lane][0], lane & 32 ? 3 * inputs[lane ^ 1][0] : 0) << lane;
}

/// One of two waves waits at a barrier that the other never reaches.
TEST(SimAmdLanes, deadlock) {
  const std::string code = R"(
    setp.ge.u32 %p0, %lane, 64;
    @%p0 bra second;
    amd.s_barrier;
    bra end;
second:
    bar.sync 1, 128;
end:)";
  auto results = runWaves(64, code, randomLanes(128, 1), 1);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().code, "sim-deadlock");
  EXPECT_NE(results.error().text.find("amd.s_barrier"), std::string::npos) << results.error().text;
}

TEST(SimAmdLanes, unknownInstructions) {
  for (const char *code :
       {"amd.shuffle.b32 %o0, %r0;", "amd.dpp.b32 %o0, %r0, %r0, 768, 15, 15, 0;",
        "amd.ds_swizzle.b32 %o0, %r0, 57344;", "amd.readlane.b32 %o0, %r0;", "@%p0 amd.readfirstlane.b32 %o0, %r0;"}) {
    auto results = runWaves(64, code, randomLanes(64, 1), 1);
    ASSERT_FALSE(results) << code;
    EXPECT_EQ(results.error().code, "sim-ptx") << code;
    EXPECT_NE(results.error().text.find("amd."), std::string::npos) << results.error().text;
  }
}

TEST(SimAmdLanes, wavesOfOtherSizes) {
  auto module = sim::parse(withWave(simKernel("", "ret;"), 48));
  ASSERT_FALSE(module);
  EXPECT_NE(module.error().text.find("32 or 64 lanes"), std::string::npos);
}
