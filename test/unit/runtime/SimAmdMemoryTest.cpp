// Buffers, barriers and conversions of AMD's GPUs.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimAmd.h"

#include <bit>
#include <cmath>
#include <numeric>

using namespace nereid;

namespace {
/// Loads of `words` words at 4 * lane of a buffer of `bytes` bytes.
std::string loads(unsigned words, unsigned bytes, const std::string &type = "b32") {
  std::string results = "{";
  for (unsigned word = 0; word < words; ++word)
    results += (word ? ", %o" : "%o") + std::to_string(word);
  return "mov.b64 %q0, {%r0, %r1}; shl.b32 %t0, %lane, 2; amd.buffer_load." + type + " " + results + "}, %q0, %t0, " +
         std::to_string(bytes) + ";";
}

LaneWords withAddress(const void *address, unsigned lanes) {
  const uint64_t bits = reinterpret_cast<uint64_t>(address);
  return LaneWords(lanes, {uint32_t(bits), uint32_t(bits >> 32)});
}
} // namespace

/// Words beyond the end are 0, each on its own; memory there is not touched.
TEST(SimAmdMemory, bufferLoads) {
  std::vector<uint32_t> memory(80);
  std::iota(memory.begin(), memory.end(), 1000);
  for (const unsigned bytes : {0u, 4u, 83u, 84u, 320u}) {
    auto results = runWaves(64, loads(4, bytes), withAddress(memory.data(), 64), 4);
    ASSERT_TRUE(results) << results.error().text;
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned word = 0; word < 4; ++word)
        ASSERT_EQ((*results)[lane][word], (lane + word + 1) * 4 <= bytes ? memory[lane + word] : 0) << bytes;
  }
  auto results = runWaves(64, loads(1, 30, "b16"), withAddress(memory.data(), 64), 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ((*results)[lane][0], lane * 4 + 2 <= 30 ? memory[lane] & 0xffff : 0);
}

/// An offset that is negative, or wraps, is beyond the end.
TEST(SimAmdMemory, bufferOffsetsAreUnsigned) {
  std::vector<uint32_t> memory(64, 5);
  auto results = runWaves(64,
                          "mov.b64 %q0, {%r0, %r1}; sub.u32 %t0, 0, 4; amd.buffer_load.b32 {%o0}, %q0, %t0, 256; "
                          "amd.buffer_load.b32 {%o1}, %q0, 0x80000000, 256;",
                          withAddress(memory.data(), 64), 2);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ((*results)[0], (std::vector<uint32_t>{0, 0}));
}

TEST(SimAmdMemory, bufferStores) {
  std::vector<uint32_t> memory(80, 7);
  auto results = runWaves(64,
                          "mov.b64 %q0, {%r0, %r1}; shl.b32 %t0, %lane, 2; "
                          "amd.buffer_store.b32 {%lane}, %q0, %t0, 120; amd.buffer_store.b8 {%lane}, %q0, %t0, 9;",
                          withAddress(memory.data(), 64), 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned index = 0; index < 80; ++index)
    EXPECT_EQ(memory[index], index < 30 ? index : 7);
}

/// Lanes beyond the end are no access: an address that is no memory is not reported.
TEST(SimAmdMemory, bufferWithoutMemory) {
  auto results = runWaves(64, loads(2, 0), LaneWords(64, {0, 0}), 2);
  ASSERT_TRUE(results) << results.error().text;
  results = runWaves(64, loads(2, 8), LaneWords(64, {0, 0}), 2);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().code, "sim-fault");
}

//--- conversions ---------------------------------------------------------------------------

namespace {
struct ByteFormat {
  const char *name;
  int mantissaBits, bias;
  bool isFnuz, hasInfinity;
};
constexpr ByteFormat kByteFormats[] = {{"e4m3", 3, 7, false, false},
                                       {"e5m2", 2, 15, false, true},
                                       {"e4m3fnuz", 3, 8, true, false},
                                       {"e5m2fnuz", 2, 16, true, false}};

/// By the definition of the format.
double valueOf(const ByteFormat &format, unsigned bits) {
  const unsigned ones = (1u << format.mantissaBits) - 1, fraction = bits & ones;
  const int exponent = int(bits & 127) >> format.mantissaBits, largest = 127 >> format.mantissaBits;
  if (format.isFnuz && bits == 128)
    return NAN;
  if (!format.isFnuz && exponent == largest && (format.hasInfinity || fraction == ones))
    return format.hasInfinity && !fraction ? (bits & 128 ? -INFINITY : INFINITY) : NAN;
  const double magnitude = exponent ? std::ldexp(1 + double(fraction) / (ones + 1), exponent - format.bias)
                                    : std::ldexp(double(fraction) / (ones + 1), 1 - format.bias);
  return bits & 128 ? -magnitude : magnitude;
}
} // namespace

TEST(SimAmdMemory, bytesToFloat) {
  for (const ByteFormat &format : kByteFormats) {
    LaneWords inputs(64, std::vector<uint32_t>(1));
    for (unsigned lane = 0; lane < 64; ++lane)
      inputs[lane][0] = lane * 4 | (lane * 4 + 1) << 8 | (lane * 4 + 2) << 16 | (lane * 4 + 3) << 24;
    std::string code = ".reg .f32 %f<4>;";
    for (int byte = 0; byte < 4; ++byte) {
      const std::string number = std::to_string(byte);
      code += " amd.cvt_float." + std::string(format.name) + " %f" + number + ", %r0, " + number + "; mov.b32 %o" +
              number + ", %f" + number + ";";
    }
    auto results = runWaves(64, code, inputs, 4);
    ASSERT_TRUE(results) << results.error().text;
    for (unsigned bits = 0; bits < 256; ++bits) {
      const float got = std::bit_cast<float>((*results)[bits / 4][bits % 4]);
      const double expected = valueOf(format, bits);
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : double(got) == expected) << format.name << " " << bits;
    }
  }
}

/// Each number of the format, the middles between two, and a little beside them: to the nearest, ties to even.
TEST(SimAmdMemory, floatsToBytes) {
  for (const ByteFormat &format : kByteFormats) {
    LaneWords inputs;
    std::vector<unsigned> expected;
    for (unsigned bits = 0; bits < 126; ++bits) {
      const double low = valueOf(format, bits), high = valueOf(format, bits + 1), middle = (low + high) / 2;
      if (!std::isfinite(high))
        continue;
      for (const double value : {low, middle, std::nextafter(float(middle), 0.0f) * 1.0})
        inputs.push_back({std::bit_cast<uint32_t>(float(value)), std::bit_cast<uint32_t>(float(-value))});
      expected.insert(expected.end(), {bits, bits % 2 ? bits + 1 : bits, bits});
    }
    while (inputs.size() % 64)
      inputs.push_back({0, 0}), expected.push_back(0);
    auto results =
        runWaves(64,
                 ".reg .f32 %f<2>; mov.b32 %f0, %r0; mov.b32 %f1, %r1; amd.cvt_pk." + std::string(format.name) +
                     " %o0, %f0, %f1, 0x12345678, 0; amd.cvt_pk." + format.name + " %o1, %f0, %f1, 0x12345678, 1;",
                 inputs, 2);
    ASSERT_TRUE(results) << results.error().text;
    for (size_t index = 0; index < expected.size(); ++index) {
      const bool isZero = expected[index] == 0, isKeptSign = !isZero || (!format.isFnuz && inputs[index][1] >> 31);
      const unsigned negative = expected[index] | (isKeptSign ? 128 : 0), pair = expected[index] | negative << 8;
      ASSERT_EQ((*results)[index][0], 0x12340000 | pair) << format.name << " " << index;
      ASSERT_EQ((*results)[index][1], 0x5678 | pair << 16) << format.name << " " << index;
    }
  }
}

/// What is too large is infinity or NaN.
TEST(SimAmdMemory, overflowOfBytes) {
  const unsigned expected[] = {0x7f, 0x7c, 0x80, 0x80};
  for (unsigned index = 0; index < 4; ++index) {
    auto results = runWaves(64,
                            ".reg .f32 %f0; mov.b32 %f0, 0f7F000000; amd.cvt_pk." +
                                std::string(kByteFormats[index].name) + " %o0, %f0, %f0, 0, 0;",
                            LaneWords(64, {0}), 1);
    ASSERT_TRUE(results) << results.error().text;
    EXPECT_EQ((*results)[0][0], expected[index] * 0x101) << kByteFormats[index].name;
  }
}

/// 1 + 1/32 lies a quarter of the way from 1 to 1.125: a quarter of the random numbers rounds up.
TEST(SimAmdMemory, randomRounding) {
  LaneWords inputs(64, std::vector<uint32_t>(1));
  for (unsigned lane = 0; lane < 64; ++lane)
    inputs[lane][0] = lane << 26 | 0x2000000;
  auto results =
      runWaves(64, ".reg .f32 %f0; mov.b32 %f0, 0f3F840000; amd.cvt_sr.e4m3 %o0, %f0, %r0, 0, 2;", inputs, 1);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ((*results)[lane][0], (lane >= 48 ? 0x39u : 0x38u) << 16) << lane;
}

TEST(SimAmdMemory, pairsRoundedToZero) {
  auto results = runWaves(64,
                          ".reg .f32 %f<2>; mov.b32 %f0, 0f3F801FFF; mov.b32 %f1, 0fBF801FFF; "
                          "amd.cvt_pkrtz %o0, %f0, %f1;",
                          LaneWords(64, {0}), 1);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ((*results)[0][0], 0xbc003c00u);
}

//--- counters ------------------------------------------------------------------------------

/// 64 banks instead of 32: words that are 32 words apart do not conflict there.
TEST(SimAmdMemory, banks) {
  for (const unsigned banks : {32u, 64u}) {
    const std::string text = simKernel("", ".shared .b8 memory[16384]; .reg .b32 %t<3>; .reg .b64 %q<2>;"
                                           "mov.u32 %t0, %tid.x; mul.lo.u32 %t1, %t0, 128; mov.u32 %t2, memory;"
                                           "add.u32 %t2, %t2, %t1; st.shared.b32 [%t2], %t0; ret;");
    std::string ptx = withWave(text, 64);
    ptx.insert(ptx.find(".pragma"), ".pragma \"banks " + std::to_string(banks) + "\";\n");
    auto module = sim::parse(ptx);
    ASSERT_TRUE(module) << module.error().text;
    sim::Launch launch;
    launch.entry = "kernel";
    launch.block = {.x = 64};
    launch.wantsCounters = true;
    auto counters = sim::run(**module, launch);
    ASSERT_TRUE(counters) << counters.error().text;
    uint64_t conflicts = 0;
    for (const sim::InstructionCounts &counts : counters->shared)
      conflicts += counts.sharedConflicts;
    EXPECT_EQ(conflicts, banks == 32 ? 2 * 31u : 2 * 15u);
  }
}
