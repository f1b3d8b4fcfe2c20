// Matrix fragments of a warp: ldmatrix, stmatrix, mma.sync and mma.sp.
// SPDX-License-Identifier: MIT
//
// Lane l has the row l / 4 and the columns of l % 4. Sums of products are exact in double for every type of at most 16
// bits and are rounded once with the accumulator.
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Fragments.h"
#include "runtime/sim/machine/ThreadScratch.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid::sim;

//--- ldmatrix and stmatrix -----------------------------------------------------------------

namespace {
struct MatrixRoles {
  Space space;
  bool isTransposed, isStore;
};
} // namespace

/// slots: addresses; list: registers.
static Step moveMatrices(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  const auto [space, isTransposed, isStore] = instruction.roles<MatrixRoles>();
  LaneAccess access(warp, instruction, space, instruction.slots[0], instruction.immediate, 16);
  access.isTransposed = isTransposed;
  access.lanes = uint32_t((uint64_t{1} << instruction.list.size() * 8) - 1); // one row each
  if (!(isStore ? access.writing() : access.reading()).resolve(warp))
    return Step::Fail;
  for (unsigned matrix = 0; matrix < instruction.list.size(); ++matrix) {
    char *const *rows = access.memory + matrix * 8;
    auto *words = warp.at<uint32_t>(instruction.list[matrix]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned major = lane / 4, minor = lane % 4 * 2 + half;
        char *element = isTransposed ? rows[minor] + major * 2 : rows[major] + minor * 2;
        char *own = reinterpret_cast<char *>(&words[lane]) + half * 2;
        isStore ? std::memcpy(element, own, 2) : std::memcpy(own, element, 2);
      }
  }
  return Step::Next;
}

static void decodeMatrices(Decoder &decoder) {
  const bool isStore = decoder.opcode() == "stmatrix";
  decoder.take("sync"), decoder.take("aligned");
  const std::string count = decoder.takeOf({"x1", "x2", "x4"});
  if (!decoder.take("m8n8") || !decoder.take("b16"))
    return decoder.fail("this form is not known");
  Instruction instruction;
  const bool isTransposed = decoder.take("trans");
  instruction.setRoles(MatrixRoles{decoder.takeSpace(Space::Generic), isTransposed, isStore});
  const Operand &registers = decoder.operand(isStore ? 1 : 0);
  const std::vector<Operand> parts = elementsOf(registers);
  if (parts.size() != size_t(count[1] - '0'))
    return decoder.fail("another number of registers");
  for (const Operand &part : parts)
    instruction.list.push_back(isStore ? decoder.source(part, 4) : decoder.destination(part, 4));
  instruction.slots[0] = decoder.address(decoder.operand(isStore ? 0 : 1), instruction.immediate);
  instruction.execute = &moveMatrices;
  decoder.add(std::move(instruction));
}

static Step transpose(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  uint16_t elements[8][8];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::memcpy(&elements[lane / 4][lane % 4 * 2], &warp.at<uint32_t>(instruction.slots[1])[lane], 4);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    warp.at<uint32_t>(instruction.slots[0])[lane] =
        elements[lane % 4 * 2][lane / 4] | uint32_t{elements[lane % 4 * 2 + 1][lane / 4]} << 16;
  return Step::Next;
}
static void decodeTranspose(Decoder &decoder) {
  decoder.dropAll();
  decoder.emit(&transpose, {4, 4});
}

//--- mma.sync ------------------------------------------------------------------------------

namespace {
/// Shape and types of an instruction; packed into its immediate.
struct Product {
  uint8_t rows, depth;
  MatrixElement left, right;
  uint8_t selector; ///< of the metadata of a sparse left matrix
  bool isSparse;
  bool isHalfResult : 1, isHalfSum : 1, isInteger : 1, isSaturated : 1;
  uint8_t unused;

  unsigned numResults() const { return isHalfResult ? rows / 8 : rows / 4; }
  unsigned numSums() const { return isHalfSum ? rows / 8 : rows / 4; }
  /// Columns of the left matrix that registers hold.
  unsigned storedDepth() const { return isSparse ? depth / 2 : depth; }
  /// Columns of the registers of a row.
  unsigned group() const { return 16 / std::min(bytesOf(left), 4u); }
};
static_assert(sizeof(Product) == 8);
constexpr unsigned kColumns = 8, kMaxDepth = 64;

template <typename T> struct Operands {
  T left[16][kMaxDepth], right[kMaxDepth][kColumns];
};
} // namespace

//--- sparse left matrices ------------------------------------------------------------------
//
// A row holds half of its elements. Of each chunk of four (of two for tf32) the metadata have four bits: two numbers of
// two bits, the positions of the two elements that are stored; for tf32 they are the positions of halves of 16 bits, 4
// or 14. A word of a lane covers 16 columns of rows g and g + 8 if elements have 16 bits, 8 columns if they have 32; 32
// columns of one of the two rows if they have 8.

/// Lanes of four whose words of metadata are used.
static unsigned wordsOf(const Product &product) {
  const unsigned bytes = bytesOf(product.left);
  return bytes == 1 ? product.depth / 16 : product.depth * bytes / 32;
}

/// The four bits of metadata of a chunk of a row.
static uint32_t chunkBits(const uint32_t *metadata, const Product &product, unsigned row, unsigned chunk) {
  const unsigned half = row / 8, first = row % 8 * 4 + product.selector * wordsOf(product);
  if (bytesOf(product.left) == 1) // a word is 8 chunks of one row
    return metadata[first + chunk / 8 * 2 + half] >> chunk % 8 * 4 & 15;
  return metadata[first + chunk / 4] >> (half * 16 + chunk % 4 * 4) & 15;
}

/// The column of a stored element.
static unsigned columnOf(const uint32_t *metadata, const Product &product, unsigned row, unsigned stored) {
  if (bytesOf(product.left) == 4)
    return stored * 2 + (chunkBits(metadata, product, row, stored) >> 3);
  return stored / 2 * 4 + (chunkBits(metadata, product, row, stored / 2) >> stored % 2 * 2 & 3);
}

//--- operands ------------------------------------------------------------------------------

/// Register `index` of a lane holds elements of one row of the left matrix, of one column of the right one.
template <typename T, typename F>
static void readOperands(Warp &warp, const Instruction &instruction, const Product &product, Operands<T> &operands,
                         F value) {
  const unsigned group = product.group(), perWord = group / 4, halves = product.rows / 8;
  const unsigned numLeft = product.storedDepth() / group * halves, numRight = product.depth / group;
  const uint32_t *left = instruction.list.data() + product.numResults(), *right = left + numLeft;
  const uint32_t *metadata = product.isSparse ? warp.at<uint32_t>(instruction.list.back()) : nullptr;
  if (product.isSparse)
    for (auto &row : operands.left)
      std::fill_n(row, product.depth, T(0));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned part = 0; part < perWord; ++part) {
      for (unsigned index = 0; index < numLeft; ++index) {
        const unsigned row = lane / 4 + index % halves * 8;
        const unsigned stored = index / halves * group + lane % 4 * perWord + part;
        operands.left[row][metadata ? columnOf(metadata, product, row, stored) : stored] =
            value(product.left, left[index], lane, part);
      }
      for (unsigned index = 0; index < numRight; ++index)
        operands.right[index * group + lane % 4 * perWord + part][lane / 4] =
            value(product.right, right[index], lane, part);
    }
}

/// The sums of a row of the product in double.
static void multiply(const Operands<float> &operands, const Product &product, unsigned row, double (&sums)[kColumns]) {
  std::fill_n(sums, kColumns, 0.0);
  for (unsigned k = 0; k < product.depth; ++k)
    for (unsigned column = 0; column < kColumns; ++column)
      sums[column] += double{operands.left[row][k]} * operands.right[k][column];
}

/// list: results, left, right, accumulators, metadata.
static Step multiplyMatrices(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  const auto product = std::bit_cast<Product>(instruction.immediate);
  auto &operands = threadScratch<Operands<float>>();
  readOperands(warp, instruction, product, operands,
               [&](MatrixElement element, uint32_t slot, unsigned lane, unsigned part) {
                 return valueOf(element, warp.at<uint32_t>(slot)[lane] >> part * bytesOf(element) * 8);
               });
  const size_t numSums = product.numSums();
  const uint32_t *results = instruction.list.data(),
                 *accumulators = results + instruction.list.size() - product.isSparse - numSums;
  // Results may share registers with accumulators in another order.
  uint32_t before[4][kLanes];
  for (size_t index = 0; index < numSums; ++index)
    std::memcpy(before[index], warp.at<uint32_t>(accumulators[index]), sizeof(before[index]));
  for (unsigned row = 0; row < product.rows; ++row) {
    double sums[kColumns];
    multiply(operands, product, row, sums);
    for (unsigned column = 0; column < kColumns; ++column) {
      const unsigned lane = row % 8 * 4 + column / 2, half = row / 8, next = column % 2;
      uint32_t old;
      if (product.isHalfSum)
        old = std::bit_cast<uint32_t>(toFloat(Half{uint16_t(before[half][lane] >> next * 16)}));
      else
        old = before[half * 2 + next][lane];
      const uint32_t now =
          product.isInteger ? integerSum(old, int64_t(sums[column]), product.isSaturated) : floatSum(old, sums[column]);
      if (!product.isHalfResult) {
        warp.at<uint32_t>(results[half * 2 + next])[lane] = now;
        continue;
      }
      auto *halves = reinterpret_cast<uint16_t *>(&warp.at<uint32_t>(results[half])[lane]);
      halves[next] = toHalf(std::bit_cast<float>(now)).bits;
    }
  }
  return Step::Next;
}

static Step multiplyDoubles(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  const auto product = std::bit_cast<Product>(instruction.immediate);
  auto &operands = threadScratch<Operands<double>>();
  readOperands(warp, instruction, product, operands,
               [&](MatrixElement, uint32_t slot, unsigned lane, unsigned) { return warp.at<double>(slot)[lane]; });
  const uint32_t *results = instruction.list.data();
  double before[4][kLanes];
  for (size_t index = 0; index < instruction.slots[0]; ++index)
    std::memcpy(before[index], warp.at<double>(results[instruction.list.size() - instruction.slots[0] + index]),
                sizeof(before[index]));
  for (unsigned row = 0; row < product.rows; ++row)
    for (unsigned column = 0; column < kColumns; ++column) {
      const unsigned lane = row % 8 * 4 + column / 2, index = row / 8 * 2 + column % 2;
      double sum = before[index][lane];
      for (unsigned k = 0; k < product.depth; ++k)
        sum = std::fma(operands.left[row][k], operands.right[k][column], sum);
      warp.at<double>(results[index])[lane] = sum;
    }
  return Step::Next;
}

bool nereid::sim::addMatrixRegisters(Decoder &decoder, Instruction &instruction, std::initializer_list<size_t> counts,
                                     unsigned laneBytes) {
  unsigned index = 0;
  for (const size_t count : counts) {
    const std::vector<Operand> parts = elementsOf(decoder.operand(index));
    if (parts.size() != count)
      return decoder.fail("an operand has another number of registers"), false;
    instruction.slots[index] = uint32_t(count);
    for (const Operand &part : parts)
      instruction.list.push_back(index ? decoder.source(part, laneBytes, true) : decoder.destination(part, laneBytes));
    ++index;
  }
  return true;
}

/// Whether the shape exists; reads it.
static bool takeShape(Decoder &decoder, Product &product) {
  const std::string shape = decoder.takeShape("m");
  static constexpr const char *dense[] = {"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m8n8k4", "m8n8k16"};
  if (shape.empty() || shape.find('k') == shape.npos)
    return false;
  product.rows = shape[1] == '8' ? 8 : 16;
  product.depth = uint8_t(std::stoi(shape.substr(shape.find('k') + 1)));
  const unsigned least = 32 / bytesOf(product.left);
  if (!product.isSparse)
    return std::find(std::begin(dense), std::end(dense), shape) != std::end(dense);
  return shape.starts_with("m16n8k") && (product.depth == least || product.depth == 2 * least);
}

static void decodeProduct(Decoder &decoder) {
  decoder.take("sync"), decoder.take("aligned"), decoder.take("row"), decoder.take("col"), decoder.take("rn");
  Product product{};
  product.isSparse = decoder.take("sp") || decoder.take("sp::ordered_metadata");
  if (!product.isSparse && (decoder.has("s4") || decoder.has("u4") || decoder.has("b1")))
    return decodeSmallProduct(decoder);
  if (product.isSparse)
    decoder.take("kind::f8f6f4");
  product.isSaturated = decoder.take("satfinite");
  const auto takeElement = [&] {
    return decoder.takeOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "f64", "f32", "s32"});
  };
  const std::string result = takeElement(), left = takeElement(), right = takeElement(), sum = takeElement();
  if (sum.empty() || (product.isSparse && left == "f64") || !matrixElementOf(left, product.left) ||
      !matrixElementOf(right, product.right) || !takeShape(decoder, product))
    return decoder.fail("this form of a matrix product is not known");
  product.isHalfResult = result == "f16", product.isHalfSum = sum == "f16", product.isInteger = result == "s32";
  if (product.rows == 8 && product.depth == 4 && left != "f64")
    return decoder.fail("the fragments of Volta are not supported");
  const Operand &selector = decoder.operand(5);
  if (product.isSparse && (selector.kind != OperandKind::Integer || selector.bits >= 4 / wordsOf(product)))
    return decoder.fail("this form of a matrix product is not known");
  product.selector = uint8_t(product.isSparse ? selector.bits : 0);
  const size_t halves = product.rows / 8, numLeft = product.storedDepth() / product.group() * halves,
               numRight = product.depth / product.group(), numResults = product.numResults();
  Instruction instruction;
  const unsigned laneBytes = left == "f64" ? 8 : 4;
  const bool hasAll =
      product.isSparse
          ? addMatrixRegisters(decoder, instruction, {numResults, numLeft, numRight, product.numSums(), 1})
          : addMatrixRegisters(decoder, instruction, {numResults, numLeft, numRight, product.numSums()}, laneBytes);
  if (!hasAll)
    return;
  const uint32_t words = product.isSparse ? (1u << wordsOf(product)) - 1 : 0;
  instruction.slots[4] = (words << product.selector * wordsOf(product)) * 0x11111111;
  instruction.immediate = std::bit_cast<uint64_t>(product);
  instruction.execute = left == "f64" ? &multiplyDoubles : &multiplyMatrices;
  decoder.add(std::move(instruction));
}

void nereid::sim::addMatrixOpcodes(OpcodeTable &table) {
  table.add("ldmatrix", decodeMatrices, Kind::SharedLoad, ValueFlow::Matrices);
  table.add("stmatrix", decodeMatrices, Kind::SharedStore, ValueFlow::Store);
  table.add("movmatrix", decodeTranspose, Kind::Shuffle, ValueFlow::Lanes);
  table.add("mma", decodeProduct, Kind::TensorCore, ValueFlow::Product);
}
