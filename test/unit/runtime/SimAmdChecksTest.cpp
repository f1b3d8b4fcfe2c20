// Races and bounds in waves of AMD's GPUs: what orders the lanes of a wave, and what a check sees of a buffer.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimAmd.h"
#include "test/unit/runtime/SimChecks.h"

using namespace nereid;

namespace {
/// The code of the report of a run, or empty.
std::string waveReport(const std::string &code, uint32_t checks, uint32_t threads = 128, uint64_t seed = 0,
                       unsigned waveLanes = 64) {
  static std::vector<uint32_t> out(64);
  auto module = sim::parse(withWave(checkedKernel(code), waveLanes));
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
      EXPECT_EQ(waveReport(exchange("amd.wave_barrier;", distance), artifact::Race, 128, seed), "");
      EXPECT_EQ(waveReport(exchange("", distance), artifact::Race, 128, seed), "sanitize-race");
    }
    EXPECT_EQ(waveReport(exchange("amd.wave_barrier;", 64), artifact::Race, 128, seed), "sanitize-race");
  }
}

TEST(SimAmdChecks, barrier) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (const unsigned distance : {1u, 32u, 64u, 127u})
      EXPECT_EQ(waveReport(exchange("amd.s_barrier;", distance), artifact::Race | artifact::Sync, 128, seed), "");
}

/// A value from another lane orders no memory.
TEST(SimAmdChecks, exchangeIsNoBarrier) {
  EXPECT_EQ(waveReport(exchange("amd.readfirstlane.b32 %r6, %r0;", 32), artifact::Race), "sanitize-race");
}

/// A buffer that is larger than the array it lies in.
TEST(SimAmdChecks, boundsOfBuffers) {
  const std::string head = "shl.b32 %r3, %r0, 2; amd.buffer_store.b32 {%r0}, %rd0, %r3, ";
  EXPECT_EQ(waveReport(head + "256;", artifact::Bounds), "");
  EXPECT_EQ(waveReport(head + "260;", artifact::Bounds), "sanitize-bounds");
}

/// Lanes that store the same words to one element do not race; the words beyond the buffer's end are not stored.
TEST(SimAmdChecks, racesOfBuffers) {
  const auto report = [](const std::string &words) {
    return waveReport("mov.u32 %r3, 0; mov.u32 %r4, 7; amd.buffer_store.b32 {" + words + "}, %rd0, %r3, 8;",
                      artifact::Race, 32, 0, 32);
  };
  EXPECT_EQ(report("%r4, %r4, %r0, %r0"), "");
  EXPECT_EQ(report("%r4, %r0, %r4, %r4"), "sanitize-race");
}

namespace {
/// Stores the result of a product of 16 x 16 x 16; `unwritten` is the lane without the first two elements of `operand`.
std::string productOf(const std::string &operand, unsigned unwritten, const std::string &stored) {
  const auto registers = [](const std::string &first) {
    return "{%" + first + "0, %" + first + "1" + (first == "d" ? ", %d2, %d3}" : "}");
  };
  std::string code = ".reg .b32 %a<2>; .reg .b32 %b<2>; .reg .b32 %d<4>; .reg .b32 %c<4>;";
  for (const std::string name : {"a", "b", "c"})
    for (unsigned index = 0; index < (name == "c" ? 4 : 2); ++index) {
      const std::string to = "mov.b32 %" + name + std::to_string(index) + ", 0; ";
      const bool isMissing = name == operand && index == 0;
      code += isMissing ? "setp.eq.u32 %p0, %r0, " + std::to_string(unwritten) + "; @!%p0 " + to : to;
    }
  return code + "amd.mfma.m16n16k16.f32.f16.f16 " + registers("d") + ", " + registers("a") + ", " + registers("b") +
         ", {%c0, %c1, %c2, %c3}; mov.u32 %r4, %d" + stored.substr(0, 1) + "; setp.eq.u32 %p1, %r0, " +
         stored.substr(2) + "; @%p1 st.global.u32 [%rd0], %r4;";
}
} // namespace

/// An undefined element of the left operand makes its row of the result undefined, one of the right operand its column,
/// in whichever half of the wave they are; other elements stay defined. Register i of lane l is row 4 * (l / 16) + i,
/// column l % 16.
TEST(SimAmdChecks, undefinedElementsOfProducts) {
  const auto report = [](const std::string &operand, unsigned lane, const std::string &stored) {
    return waveReport(productOf(operand, lane, stored), artifact::Uninit, 64);
  };
  // Lane 37 has a part of row 5, which lanes 16 to 31 have in register 1.
  EXPECT_EQ(report("a", 37, "1 16"), "sanitize-uninit");
  EXPECT_EQ(report("a", 37, "1 31"), "sanitize-uninit");
  EXPECT_EQ(report("a", 37, "0 16"), "");
  EXPECT_EQ(report("a", 37, "1 32"), "");
  // Lane 53 has a part of column 5, which lanes 5, 21, 37 and 53 have.
  for (const char *stored : {"0 5", "3 21", "2 37", "1 53"})
    EXPECT_EQ(report("b", 53, stored), "sanitize-uninit") << stored;
  EXPECT_EQ(report("b", 53, "0 6"), "");
  // An accumulator is one element.
  EXPECT_EQ(report("c", 40, "0 40"), "sanitize-uninit");
  EXPECT_EQ(report("c", 40, "1 40"), "");
  EXPECT_EQ(report("c", 40, "0 41"), "");
  EXPECT_EQ(report("none", 0, "0 0"), "");
}

/// RDNA3: both halves of a wave have the operands; register i of lane l is row 2 * i + l / 16, column l % 16. The
/// results of 16 bits of RDNA4 are two in a register, of which both must be undefined.
TEST(SimAmdChecks, undefinedElementsOfWmma) {
  const auto report = [](const std::string &family, unsigned words, unsigned results, unsigned lane,
                         const std::string &stored, unsigned at) {
    std::string code = ".reg .b32 %a<8>; .reg .b32 %d<8>; mov.b32 %r5, 0; setp.eq.u32 %p0, %r0, " +
                       std::to_string(lane) + "; @!%p0 mov.b32 %a0, 0;";
    std::string a = "{%a0", zeros = "{%r5", d = "{%d0";
    for (unsigned index = 1; index < 8; ++index) {
      a += index < words ? ", %r5" : "", zeros += index < words ? ", %r5" : "";
      d += index < results ? ", %d" + std::to_string(index) : "";
    }
    std::string sums = "{%r5";
    for (unsigned index = 1; index < results; ++index)
      sums += ", %r5";
    code += "amd.wmma.m16n16k16." + family + " " + d + "}, " + a + "}, " + zeros + "}, " + sums + "}; mov.u32 %r4, %d" +
            stored + "; setp.eq.u32 %p1, %r0, " + std::to_string(at) + "; @%p1 st.global.u32 [%rd0], %r4;";
    return waveReport(code, artifact::Uninit, 32, 0, 32);
  };
  // Lane 21 has row 5 of the left operand.
  EXPECT_EQ(report("f32.f16.f16.gfx11", 8, 8, 21, "2", 16), "sanitize-uninit");
  EXPECT_EQ(report("f32.f16.f16.gfx11", 8, 8, 21, "2", 15), "");
  EXPECT_EQ(report("f32.f16.f16.gfx12", 4, 8, 21, "5", 3), "sanitize-uninit");
  EXPECT_EQ(report("f32.f16.f16.gfx12", 4, 8, 21, "5", 19), "");
  EXPECT_EQ(report("f16.f16.f16.gfx12", 4, 4, 21, "2", 3), "");
}
