// Registers by liveness, occupancy, and the estimate of time.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/CounterTable.h"
#include "runtime/sim/ptx/Liveness.h"
#include "test/unit/runtime/SimKernel.h"

#include "runtime/sim/ptx/Ptx.h"

using namespace nereid;

static uint32_t liveIn(const std::string &body) {
  auto text = sim::parseText(simKernel(".param .u64 p", body));
  EXPECT_TRUE(text) << text.error().text;
  return text ? sim::liveRegisters(text->functions.back()) : 0;
}

TEST(SimLiveness, countsWordsThatAreLiveAtOnce) {
  // %r1 and %r2 at once; the address has two words.
  EXPECT_EQ(liveIn(".reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 1; mov.u32 %r2, 2;\n"
                   "add.s32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3; ret;\n"),
            4u);
}

TEST(SimLiveness, keepsWhatALoopNeedsAgain) {
  // %r2 is read in each iteration, though its only use comes before the jump.
  const std::string loop = ".reg .b32 %r<6>; .reg .pred %p<2>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
                           "mov.u32 %r1, 0; mov.u32 %r2, 7;\nLOOP:\nadd.s32 %r1, %r1, %r2;\nadd.s32 %r3, %r1, %r1; "
                           "setp.lt.s32 %p1, %r3, 100;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r1; ret;\n";
  EXPECT_EQ(liveIn(loop), 5u);
}

TEST(SimLiveness, aGuardedResultKeepsTheOldValue) {
  const std::string body = ".reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
                           "mov.u32 %r1, 1; mov.u32 %r2, 2; setp.eq.s32 %p1, %r2, 2;\n@%p1 mov.u32 %r1, 3;\n"
                           "st.global.u32 [%rd1], %r1; ret;\n";
  EXPECT_EQ(liveIn(body), 4u);
}

static sim::LaunchProfile profileOf(const std::string &ptx, sim::Dim grid, sim::Dim block, uint32_t sharedBytes) {
  auto module = sim::parse(ptx);
  sim::Launch launch;
  launch.entry = "kernel";
  launch.grid = grid;
  launch.block = block;
  launch.sharedBytes = sharedBytes;
  launch.wantsCounters = true;
  auto counters = sim::run(**module, launch);
  EXPECT_TRUE(counters) << counters.error().text;
  return sim::profileOf(*module, launch, std::move(*counters));
}

TEST(SimEstimate, occupancyIsWhatIsScarce) {
  const artifact::NvidiaGpu &gpu = *artifact::findNvidiaGpu("h200");
  sim::LaunchProfile profile = profileOf(simKernel("", "ret;\n"), {264, 1, 1}, {256, 1, 1}, 0);
  EXPECT_EQ(occupancyOf(profile, gpu).ctas, 8u);
  EXPECT_STREQ(occupancyOf(profile, gpu).limit, "warps");
  EXPECT_EQ(occupancyOf(profile, gpu).waves, 0.25);
  profile.registers = 128; // 8 warps of 4096 registers
  EXPECT_EQ(occupancyOf(profile, gpu).ctas, 2u);
  EXPECT_STREQ(occupancyOf(profile, gpu).limit, "registers");
  profile.sharedBytes = 200000;
  EXPECT_EQ(occupancyOf(profile, gpu).ctas, 1u);
  EXPECT_STREQ(occupancyOf(profile, gpu).limit, "shared memory");
}

TEST(SimEstimate, textBoundsRegisters) {
  std::string ptx = simKernel("", ".reg .b32 %r<3>; mov.u32 %r1, 1; mov.u32 %r2, 2; add.s32 %r1, %r1, %r2; ret;\n");
  EXPECT_EQ(profileOf(ptx, {}, {32, 1, 1}, 0).registers, 2u);
  ptx.insert(ptx.find("{"), ".maxnreg 1\n");
  EXPECT_EQ(profileOf(ptx, {}, {32, 1, 1}, 0).registers, 1u);
}

TEST(SimEstimate, busiestResourceComesFirst) {
  const artifact::NvidiaGpu &gpu = *artifact::findNvidiaGpu("H200");
  std::string body = ".reg .f32 %f<3>; mov.f32 %f1, 0f3F800000;\n";
  for (unsigned index = 0; index < 200; ++index)
    body += "ex2.approx.f32 %f1, %f1;\n";
  const sim::LaunchProfile profile = profileOf(simKernel("", body + "ret;\n"), {1320, 1, 1}, {1024, 1, 1}, 0);
  const sim::Estimate estimate = estimateOf(profile, gpu);
  EXPECT_STREQ(estimate.resources[0].name, "special functions");
  // Each of 132 SMs runs 10 CTAs of 1024 threads, at 16 lanes a clock.
  EXPECT_NEAR(estimate.resources[0].seconds, 10 * 1024 * 200 / 16.0 / 1.98e9, 1e-9);
  EXPECT_GT(estimate.seconds, estimate.resources[0].seconds);
}

TEST(SimEstimate, withoutALineTableTheTableHasLinesOfThePtx) {
  const sim::LaunchProfile profile = profileOf(simKernel("", "bar.sync 0;\nret;\n"), {}, {64, 1, 1}, 0);
  const std::string text = tableOf(profile, *artifact::findNvidiaGpu("A100"));
  EXPECT_NE(text.find("bar.sync 0;"), std::string::npos) << text;
  EXPECT_NE(text.find("estimate on A100"), std::string::npos) << text;
}

TEST(SimEstimate, unknownGpusAreNamedWithTheKnownOnes) {
  EXPECT_EQ(artifact::findNvidiaGpu("H300"), nullptr);
  EXPECT_EQ(sim::unknownGpu("H300"), "there is no table of rates for the GPU `H300`; there are H200, H100, A100");
}
