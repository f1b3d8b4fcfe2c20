// mma.sync of elements narrower than a byte, and mma.sp with sparse left matrices.
// SPDX-License-Identifier: MIT
//
// A row of a sparse matrix holds half of its elements. Of each chunk of four (of two for tf32) the metadata have four
// bits: two numbers of two bits, the positions of the two elements that are stored; for tf32 they are the positions
// of halves of 16 bits, 4 or 14. A word of a lane covers 16 columns of rows g and g + 8 if elements have 16 bits, 8
// columns if they have 32; 32 columns of one of the two rows if they have 8.
#include "runtime/sim/machine/Fragments.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
constexpr unsigned kMaxDepth = 256, kColumns = 8;
enum class BitOperation : uint8_t { None, And, Xor };

struct SmallProduct {
  uint8_t bits; ///< of an element
  bool isLeftSigned, isRightSigned, isSaturated;
  BitOperation operation;
  uint8_t rows;
  uint16_t depth;
};
static_assert(sizeof(SmallProduct) == 8);

struct SparseProduct {
  MatrixElement left, right;
  uint8_t depth, selector;
  bool isHalfResult, isHalfSum, isInteger, isSaturated;
};
static_assert(sizeof(SparseProduct) == 8);

int32_t elementOf(uint32_t word, unsigned index, unsigned bits, bool isSigned) {
  const uint32_t value = word >> index * bits & ((1u << bits) - 1);
  return isSigned && value >> (bits - 1) ? int32_t(value) - (1 << bits) : int32_t(value);
}

uint32_t totalOf(uint32_t before, int64_t sum, bool isSaturated) {
  const int64_t total = int64_t{int32_t(before)} + sum;
  return uint32_t(isSaturated ? std::clamp<int64_t>(total, INT32_MIN, INT32_MAX) : total);
}

template <typename T> struct Matrices {
  T left[16][kMaxDepth], right[kMaxDepth][kColumns];
};

/// Calls `put(row, k, slot index, lane, part)` for the elements of a fragment with `perWord` elements in a register.
template <typename F> void eachElement(unsigned registers, unsigned halves, unsigned perWord, F put) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned index = 0; index < registers; ++index)
      for (unsigned part = 0; part < perWord; ++part)
        put(lane / 4 + index % halves * 8, index / halves * 4 * perWord + lane % 4 * perWord + part, index, lane, part);
}
} // namespace

//--- narrow elements -----------------------------------------------------------------------

/// list: results, left, right, accumulators.
static Step multiplySmall(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  const auto product = std::bit_cast<SmallProduct>(instruction.immediate);
  const unsigned halves = product.rows / 8, perWord = 32 / product.bits, numRight = product.depth / (4 * perWord);
  const uint32_t *results = instruction.list.data(), *left = results + 2 * halves, *right = left + numRight * halves,
                 *sums = right + numRight;
  static thread_local Matrices<int32_t> matrices;
  eachElement(numRight * halves, halves, perWord,
              [&](unsigned row, unsigned k, unsigned index, unsigned lane, unsigned part) {
                matrices.left[row][k] =
                    elementOf(warp.at<uint32_t>(left[index])[lane], part, product.bits, product.isLeftSigned);
              });
  eachElement(numRight, 1, perWord, [&](unsigned column, unsigned k, unsigned index, unsigned lane, unsigned part) {
    matrices.right[k][column] =
        elementOf(warp.at<uint32_t>(right[index])[lane], part, product.bits, product.isRightSigned);
  });
  uint32_t before[4][kLanes];
  for (unsigned index = 0; index < 2 * halves; ++index)
    std::memcpy(before[index], warp.at<uint32_t>(sums[index]), sizeof(before[index]));
  for (unsigned row = 0; row < product.rows; ++row)
    for (unsigned column = 0; column < kColumns; ++column) {
      int64_t sum = 0;
      for (unsigned k = 0; k < product.depth; ++k) {
        const int32_t a = matrices.left[row][k], b = matrices.right[k][column];
        sum += product.operation == BitOperation::Xor ? a ^ b : a * b; // of bits the product is the conjunction
      }
      const unsigned lane = row % 8 * 4 + column / 2, index = row / 8 * 2 + column % 2;
      warp.at<uint32_t>(results[index])[lane] = totalOf(before[index][lane], sum, product.isSaturated);
    }
  return Step::Next;
}

/// Adds the registers of the operands; false after a failure.
static bool addRegisters(Decoder &decoder, Instruction &instruction, std::initializer_list<size_t> counts) {
  unsigned index = 0;
  for (const size_t count : counts) {
    const std::vector<Operand> parts = elementsOf(decoder.operand(index));
    if (parts.size() != count)
      return decoder.fail("an operand has another number of registers"), false;
    for (const Operand &part : parts)
      instruction.list.push_back(index ? decoder.source(part, 4, true) : decoder.destination(part, 4));
    ++index;
  }
  return true;
}

void nereid::sim::decodeSmallProduct(Decoder &decoder) {
  SmallProduct product{};
  product.isSaturated = decoder.take("satfinite");
  const std::string shape = decoder.takeShape("m");
  const std::string left = (decoder.take("s32"), decoder.takeOf({"s4", "u4", "b1"}));
  const std::string right = decoder.takeOf({"s4", "u4", "b1"});
  decoder.take("s32");
  product.bits = left == "b1" ? 1 : 4;
  product.isLeftSigned = left == "s4", product.isRightSigned = right == "s4";
  if (left == "b1") {
    product.operation = decoder.take("xor")   ? BitOperation::Xor
                        : decoder.take("and") ? BitOperation::And
                                              : BitOperation::None;
    decoder.take("popc");
  }
  static constexpr const char *shapes[] = {"m8n8k32", "m16n8k32", "m16n8k64", "m8n8k128", "m16n8k128", "m16n8k256"};
  const auto known = std::find(std::begin(shapes), std::end(shapes), shape);
  if (known == std::end(shapes) || (known - shapes < 3) != (product.bits == 4) || (left == "b1") != (right == "b1") ||
      (left == "b1" && product.operation == BitOperation::None))
    return decoder.fail("this form of a matrix product is not known");
  product.rows = shape[1] == '8' ? 8 : 16;
  product.depth = uint16_t(std::stoi(shape.substr(shape.find('k') + 1)));
  const size_t halves = product.rows / 8, numRight = product.depth * product.bits / 128u;
  Instruction instruction;
  if (!addRegisters(decoder, instruction, {2 * halves, numRight * halves, numRight, 2 * halves}))
    return;
  instruction.immediate = std::bit_cast<uint64_t>(product);
  instruction.execute = &multiplySmall;
  decoder.add(std::move(instruction));
}

//--- sparse left matrices ------------------------------------------------------------------

/// Lanes of four whose words of metadata are used.
static unsigned wordsOf(const SparseProduct &product) {
  const unsigned bytes = bytesOf(product.left);
  return bytes == 1 ? product.depth / 16 : product.depth * bytes / 32;
}

/// The four bits of metadata of a chunk of a row.
static uint32_t chunkBits(const uint32_t *metadata, const SparseProduct &product, unsigned row, unsigned chunk) {
  const unsigned half = row / 8, first = row % 8 * 4 + product.selector * wordsOf(product);
  if (bytesOf(product.left) == 1) // a word is 8 chunks of one row
    return metadata[first + chunk / 8 * 2 + half] >> chunk % 8 * 4 & 15;
  return metadata[first + chunk / 4] >> (half * 16 + chunk % 4 * 4) & 15;
}

/// The column of a stored element.
static unsigned columnOf(const uint32_t *metadata, const SparseProduct &product, unsigned row, unsigned stored) {
  if (bytesOf(product.left) == 4)
    return stored * 2 + (chunkBits(metadata, product, row, stored) >> 3);
  return stored / 2 * 4 + (chunkBits(metadata, product, row, stored / 2) >> stored % 2 * 2 & 3);
}

/// list: results, left, right, accumulators, metadata.
static Step multiplySparse(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  const auto product = std::bit_cast<SparseProduct>(instruction.immediate);
  const unsigned perWord = 4 / bytesOf(product.left), numRight = product.depth / (4 * perWord);
  const unsigned numResults = product.isHalfResult ? 2 : 4, numSums = product.isHalfSum ? 2 : 4;
  const uint32_t *results = instruction.list.data(), *left = results + numResults, *right = left + numRight,
                 *sums = right + numRight, *metadata = warp.at<uint32_t>(sums[numSums]);
  static thread_local Matrices<float> matrices;
  for (auto &row : matrices.left)
    std::fill_n(row, product.depth, 0.0f);
  const auto value = [&](MatrixElement element, uint32_t slot, unsigned lane, unsigned part) {
    return valueOf(element, warp.at<uint32_t>(slot)[lane] >> part * bytesOf(element) * 8);
  };
  eachElement(numRight, 2, perWord, [&](unsigned row, unsigned stored, unsigned index, unsigned lane, unsigned part) {
    matrices.left[row][columnOf(metadata, product, row, stored)] = value(product.left, left[index], lane, part);
  });
  eachElement(numRight, 1, perWord, [&](unsigned column, unsigned k, unsigned index, unsigned lane, unsigned part) {
    matrices.right[k][column] = value(product.right, right[index], lane, part);
  });
  uint32_t before[4][kLanes];
  for (unsigned index = 0; index < numSums; ++index)
    std::memcpy(before[index], warp.at<uint32_t>(sums[index]), sizeof(before[index]));
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (unsigned k = 0; k < product.depth; ++k)
        sum += double{matrices.left[row][k]} * matrices.right[k][column];
      const unsigned lane = row % 8 * 4 + column / 2, half = row / 8, next = column % 2;
      if (product.isInteger) {
        warp.at<uint32_t>(results[half * 2 + next])[lane] =
            totalOf(before[half * 2 + next][lane], int64_t(sum), product.isSaturated);
        continue;
      }
      const float old = product.isHalfSum ? toFloat(Half{uint16_t(before[half][lane] >> next * 16)})
                                          : std::bit_cast<float>(before[half * 2 + next][lane]);
      const float now = float(double{old} + sum);
      if (product.isHalfResult)
        reinterpret_cast<uint16_t *>(&warp.at<uint32_t>(results[half])[lane])[next] = toHalf(now).bits;
      else
        warp.at<uint32_t>(results[half * 2 + next])[lane] = std::bit_cast<uint32_t>(now);
    }
  return Step::Next;
}

void nereid::sim::decodeSparseProduct(Decoder &decoder) {
  SparseProduct product{};
  product.isSaturated = decoder.take("satfinite");
  decoder.take("kind::f8f6f4");
  const std::string shape = decoder.takeShape("m16n8k");
  const auto takeElement = [&] {
    return decoder.takeOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "f32", "s32"});
  };
  const std::string result = takeElement(), left = takeElement(), right = takeElement(), sum = takeElement();
  if (shape.empty() || sum.empty() || !matrixElementOf(left, product.left) || !matrixElementOf(right, product.right))
    return decoder.fail("this form of a matrix product is not known");
  const unsigned depth = unsigned(std::stoi(shape.substr(6))), least = 32 / bytesOf(product.left);
  const Operand &selector = decoder.operand(5);
  product.depth = uint8_t(depth);
  product.selector = uint8_t(selector.bits);
  if ((depth != least && depth != 2 * least) || selector.kind != OperandKind::Integer ||
      selector.bits >= 4 / wordsOf(product))
    return decoder.fail("this form of a matrix product is not known");
  product.isHalfResult = result == "f16", product.isHalfSum = sum == "f16", product.isInteger = result == "s32";
  const size_t numRight = depth * bytesOf(product.left) / 16;
  Instruction instruction;
  if (!addRegisters(decoder, instruction,
                    {product.isHalfResult ? size_t{2} : 4, numRight, numRight, product.isHalfSum ? size_t{2} : 4, 1}))
    return;
  instruction.immediate = std::bit_cast<uint64_t>(product);
  instruction.execute = &multiplySparse;
  decoder.add(std::move(instruction));
}
