// Races and bounds in waves of AMD's GPUs: what orders the lanes of a wave, and what a check sees of a buffer.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimAmd.h"
#include "test/unit/runtime/SimChecks.h"

using namespace nereid;

namespace {
/// The code of the report of a run with waves of 64 lanes, or empty.
std::string waveReport(const std::string &code, uint32_t checks, uint32_t threads = 128, uint64_t seed = 0) {
  static std::vector<uint32_t> out(64);
  auto module = sim::parse(withWave(checkedKernel(code), 64));
  if (!module)
    return module.error().text;
  SimArguments arguments;
  arguments.add(out.data());
  sim::Launch launch;
  launch.entry = "kernel";
  launch.block = {.x = threads};
  launch.sharedBytes = 16384;
  launch.params = arguments.bytes;
  launch.seed = seed;
  launch.checks = checks;
  const uint64_t address = reinterpret_cast<uint64_t>(out.data());
  launch.buffers = {{"out", 0, address, address, address + 256, 4, true}};
  auto done = sim::run(**module, launch);
  return done ? std::string() : done.error().code;
}

/// Each lane stores a word and loads that of the lane whose number differs by `distance`.
std::string exchange(const std::string &between, unsigned distance) {
  return "mad.lo.u32 %r3, %r0, 4, %r2; st.shared.u32 [%r3], %r0; " + between + " xor.b32 %r4, %r0, " +
         std::to_string(distance) + "; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.u32 %r5, [%r4];";
}
} // namespace

/// `wave_barrier` orders all lanes of a wave, also those of its two halves, and those of no other wave.
TEST(SimAmdChecks, waveBarrier) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    for (const unsigned distance : {1u, 32u, 63u}) {
      EXPECT_EQ(waveReport(exchange("amd.wave_barrier;", distance), sim::CheckRace, 128, seed), "");
      EXPECT_EQ(waveReport(exchange("", distance), sim::CheckRace, 128, seed), "sanitize-race");
    }
    EXPECT_EQ(waveReport(exchange("amd.wave_barrier;", 64), sim::CheckRace, 128, seed), "sanitize-race");
  }
}

TEST(SimAmdChecks, barrier) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (const unsigned distance : {1u, 32u, 64u, 127u})
      EXPECT_EQ(waveReport(exchange("amd.s_barrier;", distance), sim::CheckRace | sim::CheckSync, 128, seed), "");
}

/// A value from another lane orders no memory.
TEST(SimAmdChecks, exchangeIsNoBarrier) {
  EXPECT_EQ(waveReport(exchange("amd.readfirstlane.b32 %r6, %r0;", 32), sim::CheckRace), "sanitize-race");
}

/// A buffer that is larger than the array it lies in.
TEST(SimAmdChecks, boundsOfBuffers) {
  const std::string head = "shl.b32 %r3, %r0, 2; amd.buffer_store.b32 {%r0}, %rd0, %r3, ";
  EXPECT_EQ(waveReport(head + "256;", sim::CheckBounds), "");
  EXPECT_EQ(waveReport(head + "260;", sim::CheckBounds), "sanitize-bounds");
}
