// Executes MFMA and WMMA: gathers the operands of a wave by their tables, multiplies, scatters the result.
// SPDX-License-Identifier: MIT
//
// Products are exact. Sums are exact in double for operands of at most 16 bits of moderate exponents, and are rounded
// once with the accumulator; float64 is a chain of fused multiplications.
#include "runtime/sim/amd/Matrix.h"

#include "runtime/sim/amd/Instructions.h"
#include "runtime/sim/machine/Decode.h"
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/machine/Observer.h"
#include "runtime/sim/machine/Report.h"
#include "runtime/sim/machine/ThreadScratch.h"
#include "runtime/sim/machine/Wave.h"

#include <algorithm>
#include <array>

using namespace nereid::sim;

namespace {
constexpr unsigned kMostRows = 32, kMostDepth = 128;

enum class ResultKind : uint8_t { F32, I32, F64, F16, BF16 };

/// What an instruction says; packed into its immediate.
struct Multiply {
  AmdElement left, right;
  ResultKind result;
  uint8_t shape, rightShape; ///< rows of the table; they differ where elements of two widths are scaled
  uint8_t flags;
  uint8_t leftByte, rightByte; ///< of the registers with scales

  bool has(uint8_t flag) const { return flags & flag; }
};
static_assert(sizeof(Multiply) == 8);
enum Flags : uint8_t {
  Packed = 1,  ///< two 16-bit results in a register
  High = 2,    ///< 16-bit results are in the high halves
  Clamped = 4, ///< integers
  Flushed = 8, ///< denormals count as zero
  Scaled = 16,
};

struct Operands {
  double left[kMostRows][kMostDepth], right[kMostRows][kMostDepth];
};
} // namespace

//--- operands ------------------------------------------------------------------------------

/// Elements lie next to each other in the registers of a lane.
static uint32_t elementBits(const Wave &wave, const uint32_t *slots, unsigned lane, unsigned index, unsigned bits) {
  const unsigned offset = index * bits, word = offset / 32, shift = offset % 32;
  uint64_t value = wave.at<uint32_t>(slots[word], lane);
  if (shift + bits > 32)
    value |= uint64_t{wave.at<uint32_t>(slots[word + 1], lane)} << 32;
  return uint32_t(value >> shift & ((uint64_t{1} << bits) - 1));
}

static double flushed(double value, AmdElement element) {
  const double smallest = element == AmdElement::F16 ? 0x1p-14 : element == AmdElement::BF16 ? 0x1p-126 : 0;
  return std::fabs(value) < smallest ? std::copysign(0.0, value) : value;
}

static void gather(const Wave &wave, const MatrixShape &shape, AmdElement element, const uint32_t *slots,
                   bool flushesDenormals, double (&to)[kMostRows][kMostDepth]) {
  for (unsigned lane = 0; lane < shape.lanes; ++lane)
    for (unsigned index = 0; index < shape.elementsOfLane(); ++index) {
      const OperandPlace place = shape.operandPlace(lane, index);
      double value = element == AmdElement::F64
                         ? wave.at<double>(slots[index], lane)
                         : valueOf(element, elementBits(wave, slots, lane, index, bitsOf(element)));
      to[place.major][place.k] = flushesDenormals ? flushed(value, element) : value;
    }
}

/// A scale (E8M0) is for 32 elements along K; the lane of the row in that group of lanes has it.
static void scale(const Wave &wave, const MatrixShape &shape, uint32_t slot, unsigned byte,
                  double (&to)[kMostRows][kMostDepth]) {
  for (unsigned major = 0; major < shape.rows; ++major)
    for (unsigned k = 0; k < shape.depth; ++k) {
      const unsigned lane = k / 32 * shape.rows + major;
      const uint32_t exponent = wave.at<uint32_t>(slot, lane) >> byte * 8 & 255;
      to[major][k] *= exponent == 255 ? NAN : std::ldexp(1.0, int(exponent) - 127);
    }
}

//--- results -------------------------------------------------------------------------------

/// Where a 16-bit result lies: alone in a half of a register, or two in one.
static uint16_t &halfAt(const Wave &wave, const Multiply &form, const uint32_t *slots, unsigned lane, unsigned index) {
  auto *halves = reinterpret_cast<uint16_t *>(&wave.at<uint32_t>(slots[form.has(Packed) ? index / 2 : index], lane));
  return halves[form.has(Packed) ? index % 2 : form.has(High)];
}

static double accumulator(const Wave &wave, const Multiply &form, const uint32_t *slots, unsigned lane,
                          unsigned index) {
  switch (form.result) {
  case ResultKind::F32:
    return wave.at<float>(slots[index], lane);
  case ResultKind::I32:
    return wave.at<int32_t>(slots[index], lane);
  case ResultKind::F64:
    return wave.at<double>(slots[index], lane);
  case ResultKind::F16:
    return toFloat(Half{halfAt(wave, form, slots, lane, index)});
  case ResultKind::BF16:
    return toFloat(Brain{halfAt(wave, form, slots, lane, index)});
  }
  return 0;
}

static void store(const Wave &wave, const Multiply &form, const uint32_t *slots, unsigned lane, unsigned index,
                  double value) {
  switch (form.result) {
  case ResultKind::F32: {
    const float rounded = float(value);
    const bool isFlushed = form.has(Flushed) && std::fabs(rounded) < 0x1p-126f;
    wave.at<float>(slots[index], lane) = isFlushed ? std::copysign(0.0f, rounded) : rounded;
    return;
  }
  case ResultKind::I32:
    wave.at<uint32_t>(slots[index], lane) =
        uint32_t(form.has(Clamped) ? std::clamp<int64_t>(int64_t(value), INT32_MIN, INT32_MAX) : int64_t(value));
    return;
  case ResultKind::F64:
    wave.at<double>(slots[index], lane) = value;
    return;
  case ResultKind::F16:
    halfAt(wave, form, slots, lane, index) = toHalf(float(value)).bits;
    return;
  case ResultKind::BF16:
    halfAt(wave, form, slots, lane, index) = toBrain(float(value)).bits;
    return;
  }
}

static double sumOf(const Operands &operands, const MatrixShape &shape, ResultPlace place, double before,
                    bool isFused) {
  const double *left = operands.left[place.row], *right = operands.right[place.column];
  double sum = isFused ? before : 0;
  for (unsigned k = 0; k < shape.depth; ++k)
    sum = isFused ? std::fma(left[k], right[k], sum) : sum + left[k] * right[k];
  return isFused ? sum : before + sum;
}

/// list: results, left, right, accumulators, scales. slots: where each of them but the first begins.
static WaveProduct productOf(const Instruction &instruction, const Multiply &form) {
  const std::span<const uint32_t> list = instruction.list;
  const uint32_t left = instruction.slots[0], right = instruction.slots[1], sums = instruction.slots[2];
  return {.shape = matrixShape(form.shape),
          .results = list.first(left),
          .left = list.subspan(left, right - left),
          .right = list.subspan(right, sums - right),
          .sums = list.subspan(sums, left),
          .scales = list.subspan(sums + left),
          .hasPackedResults = form.has(Packed)};
}

static bool multiply(Wave &wave, const Instruction &instruction) {
  const auto form = std::bit_cast<Multiply>(instruction.immediate);
  const MatrixShape &shape = matrixShape(form.shape);
  if (wave.lanes() != shape.lanes || !wave.isWhole())
    return fail(wave.running(), instruction, "sim-fault", "a part of a wave executes a matrix instruction"), false;
  for (const std::shared_ptr<Observer> &observer : wave.running().cta->cluster->observers)
    observer->onWaveProduct(wave, instruction, productOf(instruction, form));
  const uint32_t *list = instruction.list.data(), *scales = list + instruction.slots[3];
  auto &operands = threadScratch<Operands>();
  gather(wave, shape, form.left, list + instruction.slots[0], form.has(Flushed), operands.left);
  gather(wave, matrixShape(form.rightShape), form.right, list + instruction.slots[1], form.has(Flushed),
         operands.right);
  if (form.has(Scaled)) {
    scale(wave, shape, scales[0], form.leftByte, operands.left);
    scale(wave, shape, scales[1], form.rightByte, operands.right);
  }
  // Results may be in the registers of accumulators.
  double *const results = threadScratch<std::array<double, kMostRows * kMostRows>>().data();
  const bool isFused = form.result == ResultKind::F64;
  double *next = results;
  for (unsigned lane = 0; lane < shape.lanes; ++lane)
    for (unsigned index = 0; index < shape.resultsOfLane(); ++index)
      *next++ = sumOf(operands, shape, shape.resultPlace(lane, index),
                      accumulator(wave, form, list + instruction.slots[2], lane, index), isFused);
  next = results;
  for (unsigned lane = 0; lane < shape.lanes; ++lane)
    for (unsigned index = 0; index < shape.resultsOfLane(); ++index)
      store(wave, form, list, lane, index, *next++);
  return true;
}

//--- decoding ------------------------------------------------------------------------------

static std::string takeElement(Decoder &decoder) {
  return decoder.takeOf({"f16", "bf16", "xf32", "f32", "f64", "i8", "u8", "i4", "u4", "e4m3", "e5m2", "e4m3fnuz",
                         "e5m2fnuz", "e2m3", "e3m2", "e2m1", "i32"});
}

/// Adds the registers of an operand; false after a failure.
static bool addRegisters(Decoder &decoder, Instruction &instruction, unsigned index, unsigned count, unsigned bytes) {
  const std::vector<Operand> parts = elementsOf(decoder.operand(index));
  if (parts.size() != count) {
    decoder.fail("operand " + std::to_string(index + 1) + " has " + std::to_string(parts.size()) +
                 " registers; it takes " + std::to_string(count));
    return false;
  }
  if (index)
    instruction.slots[index - 1] = uint32_t(instruction.list.size());
  for (const Operand &part : parts)
    instruction.list.push_back(index ? decoder.source(part, bytes, true) : decoder.destination(part, bytes));
  return true;
}

/// Operands 4 to 7: a byte and a register for each of the two matrices.
static void addScales(Decoder &decoder, Instruction &instruction, Multiply &form) {
  instruction.slots[3] = uint32_t(instruction.list.size());
  form.leftByte = decoder.operand(4).bits & 3, form.rightByte = decoder.operand(6).bits & 3;
  for (const unsigned index : {5, 7})
    instruction.list.push_back(decoder.source(decoder.operand(index), 4));
}

static void addOperands(Decoder &decoder, Multiply form) {
  const MatrixShape &shape = matrixShape(form.shape);
  const unsigned bytes = form.result == ResultKind::F64 ? 8 : 4;
  const auto registers = [&](AmdElement element) {
    return (shape.elementsOfLane() * std::min(bitsOf(element), 32u) + 31) / 32;
  };
  const unsigned results = shape.resultsOfLane() / (form.has(Packed) ? 2 : 1);
  const unsigned counts[] = {results, registers(form.left), registers(form.right), results};
  Instruction instruction;
  for (unsigned index = 0; index < 4; ++index)
    if (!addRegisters(decoder, instruction, index, counts[index], bytes))
      return;
  if (form.has(Scaled))
    addScales(decoder, instruction, form);
  instruction.immediate = std::bit_cast<uint64_t>(form);
  instruction.execute = &together<&multiply>;
  decoder.setFlow(ValueFlow::Wave);
  decoder.addOfWave(std::move(instruction));
}

/// `amd.wmma.m16n16k16.f32.f16.f16.gfx11 {d}, {a}, {b}, {c}`; further modifiers: ftz, clamp, high.
void nereid::sim::decodeMatrixMultiply(Decoder &decoder) {
  Multiply form{};
  std::string family = decoder.takeOf({"mfma", "mfma_scale", "mfma_f8f6f4", "wmma"});
  const bool isScaled = family == "mfma_scale";
  if (family == "wmma")
    family = decoder.takeOf({"gfx11", "gfx12"});
  const std::string name = decoder.takeShape("m");
  static constexpr std::pair<std::string_view, ResultKind> results[] = {{"f32", ResultKind::F32},
                                                                        {"i32", ResultKind::I32},
                                                                        {"f64", ResultKind::F64},
                                                                        {"f16", ResultKind::F16},
                                                                        {"bf16", ResultKind::BF16}};
  const std::optional<ResultKind> result = decoder.takeNamed(results);
  const std::string left = takeElement(decoder), right = takeElement(decoder);
  form.result = result.value_or(ResultKind::F32);
  const bool isKnown = result && amdElementOf(left, form.left) && amdElementOf(right, form.right);
  const auto row = isKnown ? findMatrixShape(family, name, form.left) : std::nullopt;
  const auto rightRow = isKnown ? findMatrixShape(family, name, form.right) : std::nullopt;
  if (!row || !rightRow)
    return decoder.fail("this form of a matrix instruction is not known");
  form.shape = *row, form.rightShape = *rightRow;
  const bool isHalf = form.result == ResultKind::F16 || form.result == ResultKind::BF16;
  form.flags =
      uint8_t((family == "gfx12" && isHalf ? Packed : 0) | (decoder.take("high") ? High : 0) |
              (decoder.take("clamp") ? Clamped : 0) | (decoder.take("ftz") ? Flushed : 0) | (isScaled ? Scaled : 0));
  addOperands(decoder, form);
}
