// MFMA and WMMA: lane maps by the formulas of the ISA documents, numbers against exact sums.
// SPDX-License-Identifier: MIT
//
// The formulas here go from an element to its lane and register, those of the simulator the other way round.
#include "test/unit/runtime/SimAmd.h"

#include <bit>
#include <cmath>
#include <functional>

using namespace nereid;

namespace {
struct Place {
  unsigned lane, index;
};
/// CDNA: rows lie in M lanes; a lane has `perLane` neighbours along K.
Place cdnaOperand(unsigned rows, unsigned perLane, unsigned row, unsigned k) {
  return {row + rows * (k / perLane), k % perLane};
}
Place cdnaResult(unsigned rows, unsigned row, unsigned column) {
  return rows == 32 ? Place{column + 32 * (row / 4 % 2), row % 4 + 4 * (row / 8)}
                    : Place{column + 16 * (row / 4), row % 4};
}

/// A number of a small float format: sign, exponent bits, mantissa bits.
uint32_t smallFloat(double value, unsigned exponentBits, unsigned mantissaBits, int bias) {
  if (value == 0)
    return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent) * 2 - 1; // 1.m * 2^(exponent - 1)
  const int biased = exponent - 1 + bias;
  const uint32_t sign = value < 0 ? 1u << (exponentBits + mantissaBits) : 0;
  if (biased <= 0) // denormal
    return sign | uint32_t(std::fabs(value) * std::ldexp(1.0, bias - 1 + int(mantissaBits)));
  return sign | uint32_t(biased) << mantissaBits | uint32_t(mantissa * (1 << mantissaBits));
}

struct Format {
  const char *name;
  unsigned bits;
  uint32_t (*encode)(double);
};
const Format kFormats[] = {
    {"f16", 16, [](double v) { return uint32_t(std::bit_cast<uint16_t>(_Float16(v))); }},
    {"bf16", 16, [](double v) { return std::bit_cast<uint32_t>(float(v)) >> 16; }},
    {"f32", 32, [](double v) { return std::bit_cast<uint32_t>(float(v)); }},
    {"xf32", 32, [](double v) { return std::bit_cast<uint32_t>(float(v)); }},
    {"i8", 8, [](double v) { return uint32_t(int(v)) & 255; }},
    {"u8", 8, [](double v) { return uint32_t(int(v)) & 255; }},
    {"i4", 4, [](double v) { return uint32_t(int(v)) & 15; }},
    {"u4", 4, [](double v) { return uint32_t(int(v)) & 15; }},
    {"e4m3", 8, [](double v) { return smallFloat(v, 4, 3, 7); }},
    {"e5m2", 8, [](double v) { return smallFloat(v, 5, 2, 15); }},
    {"e4m3fnuz", 8, [](double v) { return smallFloat(v, 4, 3, 8); }},
    {"e5m2fnuz", 8, [](double v) { return smallFloat(v, 5, 2, 16); }},
    {"e2m3", 6, [](double v) { return smallFloat(v, 2, 3, 1); }},
    {"e3m2", 6, [](double v) { return smallFloat(v, 3, 2, 3); }},
    {"e2m1", 4, [](double v) { return smallFloat(v, 2, 1, 1); }},
};
const Format &formatOf(const std::string &name) {
  for (const Format &format : kFormats)
    if (name == format.name)
      return format;
  ADD_FAILURE() << name;
  return kFormats[0];
}

struct Matrices {
  double left[32][128], right[128][32], before[32][32];
};

/// Numbers that every format holds; integers without a sign are not negative.
double numberFor(const std::string &format, SimRandom &random) {
  const int value = int(random.next() % 7) - 3; // -3 to 3
  return format[0] == 'u' ? std::abs(value) : format == "e2m1" && std::abs(value) == 3 ? value / 2.0 : value;
}

constexpr unsigned kRightAt = 8, kSumsAt = 16, kScalesAt = 32, kWords = 34;

struct Instruction {
  std::string name;
  unsigned lanes, rows, depth;
  std::string left, right, result;
  std::function<std::vector<Place>(unsigned row, unsigned k)> leftPlaces, rightPlaces;
  std::function<Place(unsigned row, unsigned column)> resultPlace;
  unsigned leftWords, rightWords, results;
};

std::string registers(unsigned first, unsigned count, const char *prefix = "%r") {
  std::string text = "{";
  for (unsigned index = 0; index < count; ++index)
    text += (index ? ", " : "") + (prefix + std::to_string(first + index));
  return text + "}";
}

void put(LaneWords &lanes, unsigned at, Place place, const Format &format, double value) {
  const unsigned offset = place.index * format.bits;
  const uint64_t bits = uint64_t{format.encode(value)} << offset % 32;
  lanes[place.lane][at + offset / 32] |= uint32_t(bits);
  if (bits >> 32)
    lanes[place.lane][at + offset / 32 + 1] |= uint32_t(bits >> 32);
}

LaneWords inputsOf(const Instruction &instruction, Matrices &matrices, uint64_t seed) {
  SimRandom random{seed};
  LaneWords lanes(instruction.lanes, std::vector<uint32_t>(kWords));
  const Format &left = formatOf(instruction.left), &right = formatOf(instruction.right);
  for (unsigned major = 0; major < instruction.rows; ++major)
    for (unsigned k = 0; k < instruction.depth; ++k) {
      matrices.left[major][k] = numberFor(instruction.left, random);
      matrices.right[k][major] = numberFor(instruction.right, random);
      for (Place place : instruction.leftPlaces(major, k))
        put(lanes, 0, place, left, matrices.left[major][k]);
      for (Place place : instruction.rightPlaces(major, k))
        put(lanes, kRightAt, place, right, matrices.right[k][major]);
    }
  for (unsigned row = 0; row < instruction.rows; ++row)
    for (unsigned column = 0; column < instruction.rows; ++column) {
      const double value = matrices.before[row][column] = int(random.next() % 201) - 100;
      const Place place = instruction.resultPlace(row, column);
      lanes[place.lane][kSumsAt + place.index] =
          instruction.result == "i32" ? uint32_t(int32_t(value)) : std::bit_cast<uint32_t>(float(value));
    }
  return lanes;
}

std::string textOf(const Instruction &instruction, const std::string &more = "") {
  return "amd." + instruction.name + " " + registers(0, instruction.results, "%o") + ", " +
         registers(0, instruction.leftWords) + ", " + registers(kRightAt, instruction.rightWords) + ", " +
         registers(kSumsAt, instruction.results) + more + ";";
}

void expectProduct(const Instruction &instruction) {
  Matrices matrices{};
  const LaneWords inputs = inputsOf(instruction, matrices, 7);
  auto results = runWaves(instruction.lanes, textOf(instruction), inputs, instruction.results);
  ASSERT_TRUE(results) << instruction.name << ": " << results.error().text;
  for (unsigned row = 0; row < instruction.rows; ++row)
    for (unsigned column = 0; column < instruction.rows; ++column) {
      double expected = matrices.before[row][column];
      for (unsigned k = 0; k < instruction.depth; ++k)
        expected += matrices.left[row][k] * matrices.right[k][column];
      const Place place = instruction.resultPlace(row, column);
      const uint32_t bits = (*results)[place.lane][place.index];
      const double got = instruction.result == "i32" ? double(int32_t(bits)) : double(std::bit_cast<float>(bits));
      ASSERT_EQ(got, expected) << instruction.name << " at " << row << ", " << column;
    }
}

unsigned wordsFor(unsigned elements, const std::string &format) { return (elements * formatOf(format).bits + 31) / 32; }

Instruction mfma(unsigned rows, unsigned depth, const std::string &result, const std::string &left,
                 const std::string &right) {
  const unsigned perLane = rows * depth / 64;
  const std::string shape = "m" + std::to_string(rows) + "n" + std::to_string(rows) + "k" + std::to_string(depth);
  const auto operand = [=](unsigned row, unsigned k) { return std::vector{cdnaOperand(rows, perLane, row, k)}; };
  return {"mfma." + shape + "." + result + "." + left + "." + right,
          64,
          rows,
          depth,
          left,
          right,
          result,
          operand,
          operand,
          [=](unsigned row, unsigned column) { return cdnaResult(rows, row, column); },
          wordsFor(perLane, left),
          wordsFor(perLane, right),
          rows * rows / 64};
}
} // namespace

//--- MFMA ----------------------------------------------------------------------------------

TEST(SimAmdMatrix, mfmaOfHalves) {
  for (const char *type : {"f16", "bf16"}) {
    expectProduct(mfma(32, 8, "f32", type, type));
    expectProduct(mfma(16, 16, "f32", type, type));
    expectProduct(mfma(32, 16, "f32", type, type)); // CDNA4
    expectProduct(mfma(16, 32, "f32", type, type));
  }
}

TEST(SimAmdMatrix, mfmaOfSingles) {
  expectProduct(mfma(32, 2, "f32", "f32", "f32"));
  expectProduct(mfma(16, 4, "f32", "f32", "f32"));
  expectProduct(mfma(32, 4, "f32", "xf32", "xf32"));
  expectProduct(mfma(16, 8, "f32", "xf32", "xf32"));
}

TEST(SimAmdMatrix, mfmaOfIntegers) {
  for (const auto [rows, depth] : {std::pair(32u, 8u), {16u, 16u}, {32u, 16u}, {16u, 32u}, {32u, 32u}, {16u, 64u}})
    expectProduct(mfma(rows, depth, "i32", "i8", "i8"));
}

TEST(SimAmdMatrix, mfmaOfBytes) {
  for (const char *suffix : {"", "fnuz"})
    for (const char *left : {"e4m3", "e5m2"})
      for (const char *right : {"e4m3", "e5m2"}) {
        expectProduct(mfma(32, 16, "f32", left + std::string(suffix), right + std::string(suffix)));
        expectProduct(mfma(16, 32, "f32", left + std::string(suffix), right + std::string(suffix)));
      }
}

/// Two registers of 32 bits for each number: 16x16x4.
TEST(SimAmdMatrix, mfmaOfDoubles) {
  SimRandom random;
  double left[16][4], right[4][16], before[16][16];
  LaneWords inputs(64, std::vector<uint32_t>(kWords));
  const auto put = [&](unsigned lane, unsigned at, double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    inputs[lane][at] = uint32_t(bits), inputs[lane][at + 1] = uint32_t(bits >> 32);
  };
  const auto number = [&] { return (int(random.next() % 2001) - 1000) / 64.0 + 0x1p-40; };
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < 4; ++k) {
      put(row + 16 * k, 0, left[row][k] = number());
      put(row + 16 * k, kRightAt, right[k][row] = number());
    }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) // register i of lane group g has row 4 * i + g
      put(column + 16 * (row % 4), kSumsAt + 2 * (row / 4), before[row][column] = number());
  std::string code = ".reg .b64 %d<6>;";
  for (unsigned index = 0; index < 6; ++index) {
    const unsigned at = index < 4 ? kSumsAt + 2 * index : index == 4 ? 0 : kRightAt;
    code +=
        " mov.b64 %d" + std::to_string(index) + ", {%r" + std::to_string(at) + ", %r" + std::to_string(at + 1) + "};";
  }
  code += " amd.mfma.m16n16k4.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%d4}, {%d5}, {%d0, %d1, %d2, %d3};";
  for (unsigned index = 0; index < 4; ++index)
    code += " mov.b64 {%o" + std::to_string(2 * index) + ", %o" + std::to_string(2 * index + 1) + "}, %d" +
            std::to_string(index) + ";";
  auto results = runWaves(64, code, inputs, 8);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      double expected = before[row][column];
      for (unsigned k = 0; k < 4; ++k)
        expected = std::fma(left[row][k], right[k][column], expected);
      const auto &lane = (*results)[column + 16 * (row % 4)];
      ASSERT_EQ(std::bit_cast<double>(lane[2 * (row / 4)] | uint64_t{lane[2 * (row / 4) + 1]} << 32), expected)
          << row << ", " << column;
    }
}

/// The sum is rounded once: 2^24 + 1 + 1 is 2^24 + 2, also in any order of the products.
TEST(SimAmdMatrix, sumIsRoundedOnce) {
  Instruction instruction = mfma(16, 16, "f32", "f16", "f16");
  Matrices matrices{};
  LaneWords inputs = inputsOf(instruction, matrices, 3);
  for (auto &lane : inputs) {
    std::fill(lane.begin(), lane.end(), 0);
    lane[0] = 0x3c00, lane[kRightAt] = 0x3c00; // one product of 1 in each group of lanes
    std::fill_n(lane.begin() + kSumsAt, 4, std::bit_cast<uint32_t>(0x1p24f));
  }
  auto results = runWaves(64, textOf(instruction), inputs, 4);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ(std::bit_cast<float>((*results)[0][0]), 0x1p24f + 4);
}

/// MI200 takes denormals of 16 bits for zero; the others do not.
TEST(SimAmdMatrix, denormals) {
  Instruction instruction = mfma(16, 16, "f32", "f16", "f16");
  LaneWords inputs(64, std::vector<uint32_t>(kWords));
  for (auto &lane : inputs)
    lane[0] = 0x0001, lane[kRightAt] = 0x3c00; // 2^-24 and 1
  auto results = runWaves(64, textOf(instruction), inputs, 4);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ(std::bit_cast<float>((*results)[0][0]), 0x1p-22f);
  instruction.name += ".ftz";
  results = runWaves(64, textOf(instruction), inputs, 4);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ((*results)[0][0], 0u);
}

TEST(SimAmdMatrix, xf32DropsBits) {
  Instruction instruction = mfma(16, 8, "f32", "xf32", "xf32");
  LaneWords inputs(64, std::vector<uint32_t>(kWords));
  for (unsigned lane = 0; lane < 16; ++lane)
    inputs[lane][0] = std::bit_cast<uint32_t>(1 + 0x1p-10f + 0x1p-11f), inputs[lane][kRightAt] = 0x3f800000;
  auto results = runWaves(64, textOf(instruction), inputs, 4);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ(std::bit_cast<float>((*results)[0][0]), 1 + 0x1p-10f);
}

//--- scaled MFMA ---------------------------------------------------------------------------

/// A lane has 32 elements: of 8 bits in two pieces of 16, which all groups of lanes take in turn, others together. The
/// scale of 32 elements is in the lane of the row in that group.
TEST(SimAmdMatrix, scaledMfma) {
  const char *types[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
  for (const unsigned rows : {32u, 16u})
    for (const char *left : types)
      for (const char *right : types) {
        const unsigned depth = rows == 32 ? 64 : 128, groups = 64 / rows;
        Instruction instruction = mfma(rows, depth, "f32", left, right);
        const auto places = [=](const char *type) {
          return [=](unsigned row, unsigned k) {
            if (formatOf(type).bits == 8)
              return std::vector{Place{row + rows * (k / 16 % groups), k % 16 + 16 * (k / 16 / groups)}};
            return std::vector{Place{row + rows * (k / 32), k % 32}};
          };
        };
        instruction.leftPlaces = places(left), instruction.rightPlaces = places(right);
        instruction.name.insert(4, "_scale");
        Matrices matrices{};
        LaneWords inputs = inputsOf(instruction, matrices, 11);
        for (unsigned lane = 0; lane < 64; ++lane) { // scales 2^(-1 to 2)
          inputs[lane][kScalesAt] = (126 + lane % 4) << 8;
          inputs[lane][kScalesAt + 1] = (126 + lane / 3 % 4) << 16;
        }
        auto results = runWaves(64, textOf(instruction, ", 1, %r32, 2, %r33"), inputs, instruction.results);
        ASSERT_TRUE(results) << instruction.name << ": " << results.error().text;
        for (unsigned row = 0; row < rows; ++row)
          for (unsigned column = 0; column < rows; ++column) {
            double expected = matrices.before[row][column];
            for (unsigned k = 0; k < depth; ++k) {
              const unsigned group = k / 32, ofLeft = row + rows * group, ofRight = column + rows * group;
              expected += matrices.left[row][k] * std::ldexp(1.0, int(ofLeft % 4) - 1) * matrices.right[k][column] *
                          std::ldexp(1.0, int(ofRight / 3 % 4) - 1);
            }
            const Place place = instruction.resultPlace(row, column);
            ASSERT_EQ(double(std::bit_cast<float>((*results)[place.lane][place.index])), expected)
                << instruction.name << " at " << row << ", " << column;
          }
      }
}

//--- WMMA ----------------------------------------------------------------------------------

namespace {
/// RDNA3: both halves of a wave have all of a row; the result's rows alternate between the halves.
Instruction rdna3(const std::string &result, const std::string &left, const std::string &right) {
  const auto operand = [](unsigned row, unsigned k) { return std::vector{Place{row, k}, Place{row + 16, k}}; };
  return {"wmma.m16n16k16." + result + "." + left + "." + right + ".gfx11",
          32,
          16,
          16,
          left,
          right,
          result,
          operand,
          operand,
          [](unsigned row, unsigned column) { return Place{column + 16 * (row % 2), row / 2}; },
          wordsFor(16, left),
          wordsFor(16, right),
          8};
}
/// RDNA4: each half has half of a row, of 16-bit elements every second run of four; and eight neighbouring rows of the
/// result.
Instruction rdna4(unsigned depth, const std::string &result, const std::string &left, const std::string &right) {
  const auto operand = [=](unsigned row, unsigned k) {
    if (formatOf(left).bits == 16)
      return std::vector{Place{row + 16 * (k / 4 % 2), k % 4 + 4 * (k / 8)}};
    return std::vector{Place{row + 16 * (k / (depth / 2)), k % (depth / 2)}};
  };
  return {"wmma.m16n16k" + std::to_string(depth) + "." + result + "." + left + "." + right + ".gfx12",
          32,
          16,
          depth,
          left,
          right,
          result,
          operand,
          operand,
          [](unsigned row, unsigned column) { return Place{column + 16 * (row / 8), row % 8}; },
          wordsFor(depth / 2, left),
          wordsFor(depth / 2, right),
          8};
}
} // namespace

TEST(SimAmdMatrix, wmmaOfRdna3) {
  for (const char *type : {"f16", "bf16"})
    expectProduct(rdna3("f32", type, type));
  for (const char *bits : {"8", "4"})
    for (const char *left : {"i", "u"})
      for (const char *right : {"i", "u"})
        expectProduct(rdna3("i32", std::string(left) + bits, std::string(right) + bits));
}

TEST(SimAmdMatrix, wmmaOfRdna4) {
  for (const char *type : {"f16", "bf16"})
    expectProduct(rdna4(16, "f32", type, type));
  for (const char *left : {"e4m3", "e5m2"})
    for (const char *right : {"e4m3", "e5m2"})
      expectProduct(rdna4(16, "f32", left, right));
  expectProduct(rdna4(16, "i32", "i8", "u8"));
  expectProduct(rdna4(16, "i32", "u4", "i4"));
  expectProduct(rdna4(32, "i32", "i4", "i4"));
}

/// Results of 16 bits: on RDNA3 in one half of a register, on RDNA4 two in each.
TEST(SimAmdMatrix, wmmaWithHalfResults) {
  Instruction rdna = rdna3("f16", "f16", "f16");
  Matrices matrices{};
  LaneWords inputs = inputsOf(rdna, matrices, 5);
  for (auto &lane : inputs)
    std::fill_n(lane.begin() + kSumsAt, 8, 0x4000u << 16 | 0x3c00); // 2 and 1
  const auto expected = [&](unsigned row, unsigned column) {
    double sum = 0;
    for (unsigned k = 0; k < 16; ++k)
      sum += matrices.left[row][k] * matrices.right[k][column];
    return sum;
  };
  for (const bool isHigh : {false, true}) {
    Instruction form = rdna;
    form.name += isHigh ? ".high" : "";
    auto results = runWaves(32, textOf(form), inputs, 8);
    ASSERT_TRUE(results) << results.error().text;
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 16; ++column) {
        const Place place = form.resultPlace(row, column);
        const uint16_t half = uint16_t((*results)[place.lane][place.index] >> (isHigh ? 16 : 0));
        ASSERT_EQ(double(std::bit_cast<_Float16>(half)), expected(row, column) + (isHigh ? 2 : 1));
      }
  }
  Instruction packed = rdna4(16, "f16", "f16", "f16");
  packed.results = 4;
  inputs = inputsOf(packed, matrices, 5);
  for (auto &lane : inputs)
    std::fill_n(lane.begin() + kSumsAt, 4, 0x3c003c00u);
  auto results = runWaves(32, textOf(packed), inputs, 4);
  ASSERT_TRUE(results) << results.error().text;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      const Place place = packed.resultPlace(row, column);
      const uint16_t half = uint16_t((*results)[place.lane][place.index / 2] >> place.index % 2 * 16);
      ASSERT_EQ(double(std::bit_cast<_Float16>(half)), expected(row, column) + 1);
    }
}

TEST(SimAmdMatrix, clampedIntegers) {
  Instruction instruction = rdna3("i32", "i8", "i8");
  instruction.name += ".clamp";
  LaneWords inputs(32, std::vector<uint32_t>(kWords));
  for (auto &lane : inputs) {
    lane[0] = lane[kRightAt] = 0x01;
    std::fill_n(lane.begin() + kSumsAt, 8, 0x7fffffffu);
  }
  auto results = runWaves(32, textOf(instruction), inputs, 8);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_EQ((*results)[3][2], 0x7fffffffu);
}

//--- what is not possible --------------------------------------------------------------------

TEST(SimAmdMatrix, unknownForms) {
  const LaneWords inputs(64, std::vector<uint32_t>(kWords));
  for (const char *code : {"amd.mfma.m32n32k4.f32.f16.f16 {%o0}, {%r0}, {%r1}, {%r2};",
                           "amd.mfma.m32n32k8.f32.f16.f16 {%o0}, {%r0}, {%r1}, {%r2};",
                           "amd.wmma.m16n16k16.f32.f16.f16 {%o0}, {%r0}, {%r1}, {%r2};"}) {
    auto results = runWaves(64, code, inputs, 1);
    ASSERT_FALSE(results) << code;
    EXPECT_EQ(results.error().code, "sim-ptx") << results.error().text;
  }
}

/// Lanes 0 to 15 execute the instruction, the others do not.
TEST(SimAmdMatrix, partOfWave) {
  Instruction instruction = mfma(16, 16, "f32", "f16", "f16");
  auto results =
      runWaves(64, "setp.ge.u32 %p0, %lane, 16; @%p0 bra past; " + textOf(instruction) + "\npast: amd.s_barrier;",
               LaneWords(64, std::vector<uint32_t>(kWords)), 4);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().code, "sim-fault");
  EXPECT_NE(results.error().text.find("a part of a wave"), std::string::npos) << results.error().text;
}
