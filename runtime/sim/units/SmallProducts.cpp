// mma.sync of elements narrower than a byte.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Fragments.h"
#include "runtime/sim/machine/ThreadScratch.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
constexpr unsigned kSmallDepth = 256, kSmallColumns = 8;
enum class BitOperation : uint8_t { None, And, Xor };

struct SmallProduct {
  uint8_t bits; ///< of an element
  bool isLeftSigned, isRightSigned, isSaturated;
  BitOperation operation;
  uint8_t rows;
  uint16_t depth;
};
static_assert(sizeof(SmallProduct) == 8);

int32_t elementOf(uint32_t word, unsigned index, unsigned bits, bool isSigned) {
  const uint32_t value = word >> index * bits & ((1u << bits) - 1);
  return isSigned && value >> (bits - 1) ? int32_t(value) - (1 << bits) : int32_t(value);
}

struct Matrices {
  int32_t left[16][kSmallDepth], right[kSmallDepth][kSmallColumns];
};

/// Calls `put(row, k, slot index, lane, part)` for the elements of a fragment with `perWord` elements in a register.
template <typename F> void eachElement(unsigned registers, unsigned halves, unsigned perWord, F put) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned index = 0; index < registers; ++index)
      for (unsigned part = 0; part < perWord; ++part)
        put(lane / 4 + index % halves * 8, index / halves * 4 * perWord + lane % 4 * perWord + part, index, lane, part);
}
} // namespace

/// list: results, left, right, accumulators.
static Step multiplySmall(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  const auto product = std::bit_cast<SmallProduct>(instruction.immediate);
  const unsigned halves = product.rows / 8, perWord = 32 / product.bits, numRight = product.depth / (4 * perWord);
  const uint32_t *results = instruction.list.data(), *left = results + 2 * halves, *right = left + numRight * halves,
                 *sums = right + numRight;
  auto &matrices = threadScratch<Matrices>();
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
    for (unsigned column = 0; column < kSmallColumns; ++column) {
      int64_t sum = 0;
      for (unsigned k = 0; k < product.depth; ++k) {
        const int32_t a = matrices.left[row][k], b = matrices.right[k][column];
        sum += product.operation == BitOperation::Xor ? a ^ b : a * b; // of bits the product is the conjunction
      }
      const unsigned lane = row % 8 * 4 + column / 2, index = row / 8 * 2 + column % 2;
      warp.at<uint32_t>(results[index])[lane] = integerSum(before[index][lane], sum, product.isSaturated);
    }
  return Step::Next;
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
  if (!addMatrixRegisters(decoder, instruction, {2 * halves, numRight * halves, numRight, 2 * halves}))
    return;
  instruction.immediate = std::bit_cast<uint64_t>(product);
  instruction.execute = &multiplySmall;
  decoder.add(std::move(instruction));
}
