// wgmma: matmuls of operands in shared memory by groups of four warps.
// SPDX-License-Identifier: MIT
//
// Each warp computes its 16 of the 64 rows. Descriptors and the predicate are read at once; registers and memory are
// read when the product takes effect, which may be as late as the wait.
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/Fragments.h"
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/machine/ThreadScratch.h"
#include "runtime/sim/units/MatrixSums.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
/// What the modifiers and immediates of an instruction say; packed into its immediate.
struct Shape {
  uint16_t columns;
  MatrixElement left, right;
  uint8_t flags;
  bool isLeftMMajor, isRightNMajor;
  uint8_t signs; ///< 1: the left matrix is negated, 2: the right one
};
static_assert(sizeof(Shape) == 8);
enum Flags : uint8_t { HalfResult = 1, Integer = 2, Saturated = 4, LeftInRegisters = 8 };

/// Addresses of a matrix by its descriptor (PTX ISA, matrix descriptor format and canonical layouts): element `major`
/// along M or N, element `k` along K. Sizes are powers of two.
class Descriptor {
public:
  Descriptor(uint64_t bits, bool isKMajor, unsigned bytes)
      : isKMajor(isKMajor), bytesShift(unsigned(std::countr_zero(bytes))), widthShift(widthShiftOf(bits >> 62)),
        start(field(bits, 0)), leading(field(bits, 16)), stride(field(bits, 32)) {}
  const bool isKMajor;

  uint32_t address(unsigned major, unsigned k) const {
    const unsigned chunkShift = 4 - bytesShift, inChunk = (1u << chunkShift) - 1;
    if (!widthShift) {
      if (isKMajor)
        return start + major % 8 * 16 + major / 8 * stride + (k >> chunkShift) * leading +
               ((k & inChunk) << bytesShift);
      return start + ((major & inChunk) << bytesShift) + (major >> chunkShift) * stride + k % 8 * 16 + k / 8 * leading;
    }
    const unsigned rowShift = widthShift - bytesShift, inRow = (1u << rowShift) - 1;
    const uint32_t plain = isKMajor ? start + (major % 8 << widthShift) + major / 8 * stride + (k << bytesShift)
                                    : start + ((major & inRow) << bytesShift) + (major >> rowShift) * leading +
                                          (k % 8 << widthShift) + k / 8 * stride;
    return plain ^ (plain >> 7 & ((1u << (widthShift - 4)) - 1)) << 4;
  }

private:
  static uint32_t field(uint64_t bits, unsigned shift) { return uint32_t(bits >> shift & 0x3fff) * 16; }
  /// Rows of 128, 64 or 32 bytes are swizzled.
  static unsigned widthShiftOf(uint64_t mode) { return mode ? 8 - unsigned(mode) : 0; }

  unsigned bytesShift, widthShift;
  uint32_t start, leading, stride;
};

/// One instruction of one warp.
struct GroupProduct : AsyncOperation {
  Shape shape;
  uint64_t left = 0, right = 0;
  bool addsBefore = false;

  unsigned bytes() const { return bytesOf(shape.left); }
  unsigned depth() const { return 32 / bytes(); }
  bool perform() const;
  bool tell(Stage stage) const;
  /// Calls `f(major, k, address)` for every 16 bytes of a matrix.
  template <typename F> bool eachChunk(const Descriptor &descriptor, unsigned begin, unsigned count, F f) const;
  bool tell(Pieces &pieces, const Descriptor &descriptor, unsigned begin, unsigned count) const;
  /// Writes element (major, k) to `to[major * majorStep + k * depthStep]`.
  bool readShared(const Descriptor &descriptor, MatrixElement element, unsigned begin, unsigned count, double *to,
                  unsigned majorStep, unsigned depthStep) const;
  Descriptor leftMatrix() const { return {left, !shape.isLeftMMajor, bytes()}; }
  Descriptor rightMatrix() const { return {right, !shape.isRightNMajor, bytes()}; }
  bool isLeftInRegisters() const { return shape.flags & LeftInRegisters; }
  unsigned firstRow() const { return warp->index % 4 * kRows; }
  void readRegisters(LeftMatrix &to) const;
  void store(const LeftMatrix &left, const RightMatrix &right) const;
  void storeRow(unsigned row, const uint32_t *slots, const double *sums) const;
  uint32_t result(uint32_t before, double sum) const;
};
} // namespace

/// 16 bytes of shared memory as numbers.
static void readChunk(MatrixElement element, const char *from, double *to) {
  const unsigned bytes = bytesOf(element);
  if (element == MatrixElement::F16 || element == MatrixElement::BF16) {
    uint16_t words[8];
    std::memcpy(words, from, 16);
    if (element == MatrixElement::F16)
      for (unsigned index = 0; index < 8; ++index)
        to[index] = toFloat(Half{words[index]});
    else
      for (unsigned index = 0; index < 8; ++index)
        to[index] = toFloat(Brain{words[index]});
    return;
  }
  for (unsigned index = 0; index < 16 / bytes; ++index) {
    uint32_t bits = 0;
    std::memcpy(&bits, from + index * bytes, bytes);
    to[index] = valueOf(element, bits);
  }
}

template <typename F>
bool GroupProduct::eachChunk(const Descriptor &descriptor, unsigned begin, unsigned count, F f) const {
  const unsigned chunk = 16 / bytes(), depth = this->depth();
  const unsigned majorStep = descriptor.isKMajor ? 1 : chunk, depthStep = descriptor.isKMajor ? chunk : 1;
  for (unsigned major = 0; major < count; major += majorStep)
    for (unsigned k = 0; k < depth; k += depthStep) {
      const uint32_t address = descriptor.address(begin + major, k);
      if (address + 16 > warp->cta->sharedBytes) {
        fail(*warp, *instruction, "sim-fault", "the descriptor of a matrix reaches beyond shared memory");
        return false;
      }
      if (!f(major, k, address))
        return false;
    }
  return true;
}

/// 16 bytes lie together along K, or along M or N.
bool GroupProduct::readShared(const Descriptor &descriptor, MatrixElement element, unsigned begin, unsigned count,
                              double *to, unsigned majorStep, unsigned depthStep) const {
  const unsigned chunk = 16 / bytes(), step = descriptor.isKMajor ? depthStep : majorStep;
  return eachChunk(descriptor, begin, count, [&](unsigned major, unsigned k, uint32_t address) {
    double *first = to + major * majorStep + k * depthStep;
    if (step == 1)
      return readChunk(element, warp->cta->shared + address, first), true;
    double values[16];
    readChunk(element, warp->cta->shared + address, values);
    for (unsigned index = 0; index < chunk; ++index)
      first[index * step] = values[index];
    return true;
  });
}

bool GroupProduct::tell(Pieces &pieces, const Descriptor &descriptor, unsigned begin, unsigned count) const {
  return eachChunk(descriptor, begin, count, [&](unsigned, unsigned, uint32_t address) {
    return pieces.add(address, warp->cta->shared + address);
  });
}

/// Tells of the rows that this warp reads of the left matrix, and of the whole right one.
bool GroupProduct::tell(Stage stage) const {
  if (!isObserved())
    return true;
  MemoryAccess access = this->access(stage, Space::Shared, 16);
  access.reads = true;
  Pieces pieces(*warp, access);
  return (isLeftInRegisters() || tell(pieces, leftMatrix(), firstRow(), kRows)) &&
         tell(pieces, rightMatrix(), 0, shape.columns) && pieces.flush();
}

void GroupProduct::readRegisters(LeftMatrix &to) const {
  const unsigned perWord = 4 / bytes(), group = 4 * perWord;
  const uint32_t *words = instruction->list.data() + instruction->list.size() - 4;
  for (unsigned index = 0; index < 4; ++index)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned part = 0; part < perWord; ++part)
        to.values[lane / 4 + index % 2 * 8][index / 2 * group + lane % 4 * perWord + part] =
            valueOf(shape.left, warp->at<uint32_t>(words[index])[lane] >> part * bytes() * 8);
}

uint32_t GroupProduct::result(uint32_t before, double sum) const {
  if (!addsBefore)
    before = 0;
  return shape.flags & Integer ? integerSum(before, int64_t(sum), shape.flags & Saturated) : floatSum(before, sum);
}

/// Four lanes have a row of eight columns, two each, in two registers of floats or one of halves.
void GroupProduct::storeRow(unsigned row, const uint32_t *slots, const double *sums) const {
  const unsigned half = row / 8, lane = row % 8 * 4;
  if (shape.flags & HalfResult) {
    auto *halves = reinterpret_cast<uint16_t *>(warp->at<uint32_t>(slots[half]) + lane);
    for (unsigned column = 0; column < SumBlock::kColumns; ++column) {
      const uint32_t before = std::bit_cast<uint32_t>(toFloat(Half{halves[column]}));
      halves[column] = toHalf(std::bit_cast<float>(result(before, sums[column]))).bits;
    }
    return;
  }
  for (unsigned next = 0; next < 2; ++next) {
    uint32_t *words = warp->at<uint32_t>(slots[half * 2 + next]) + lane;
    if (shape.flags & Integer)
      for (unsigned index = 0; index < 4; ++index)
        words[index] = result(words[index], sums[index * 2 + next]);
    else if (addsBefore)
      for (unsigned index = 0; index < 4; ++index)
        words[index] = std::bit_cast<uint32_t>(float(std::bit_cast<float>(words[index]) + sums[index * 2 + next]));
    else
      for (unsigned index = 0; index < 4; ++index)
        words[index] = std::bit_cast<uint32_t>(float(0 + sums[index * 2 + next]));
  }
}

void GroupProduct::store(const LeftMatrix &left, const RightMatrix &right) const {
  const double sign = (shape.signs & 1 ? -1 : 1) * (shape.signs & 2 ? -1 : 1);
  const unsigned perBlock = shape.flags & HalfResult ? 2 : 4;
  SumBlock sums;
  for (unsigned column = 0; column < shape.columns; column += SumBlock::kColumns) {
    sums.compute(left, right, depth(), column, sign);
    for (unsigned row = 0; row < kRows; ++row)
      storeRow(row, &instruction->list[column / SumBlock::kColumns * perBlock], sums.values[row]);
  }
}

bool GroupProduct::perform() const {
  auto &a = threadScratch<LeftMatrix>();
  auto &b = threadScratch<RightMatrix>();
  if (!tell(Stage::Effect))
    return false;
  if (isLeftInRegisters())
    readRegisters(a);
  else if (!readShared(leftMatrix(), shape.left, firstRow(), kRows, a.values[0], LeftMatrix::kStride, 1))
    return false;
  if (!readShared(rightMatrix(), shape.right, 0, shape.columns, b.values[0], 1, RightMatrix::kStride))
    return false;
  store(a, b);
  return true;
}

//--- execution -----------------------------------------------------------------------------

static SyncEvent groupEvent(SyncKind kind, const Warp &warp, const Instruction &instruction, uint64_t operation = 0) {
  SyncEvent event{kind, &instruction, warp.mask, nullptr, uint32_t(instruction.immediate), operation};
  event.async = AsyncKind::Wgmma;
  return event;
}

/// list: results, then the words of the left matrix if it is in registers. slots: left, right, predicate.
static Step multiplyGroup(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  GroupProduct product{{&warp, &instruction, ++warp.cta->cluster->numOperations},
                       std::bit_cast<Shape>(instruction.immediate)};
  if (!product.isLeftInRegisters())
    product.left = warp.at<uint64_t>(instruction.slots[0])[0];
  product.right = warp.at<uint64_t>(instruction.slots[1])[0];
  product.addsBefore = warp.predicate(instruction.slots[2]) & 1;
  tell(warp, groupEvent(SyncKind::AsyncIssue, warp, instruction, product.operation));
  if (!product.tell(Stage::Issue))
    return Step::Fail;
  // Products are performed in order, as they add to the same registers.
  if (!warp.cta->cluster->completesEarly()) {
    warp.products.open.push_back([product] { return product.perform(); });
    return Step::Next;
  }
  return waitForAll(warp.products) && product.perform() ? Step::Next : Step::Fail;
}

static Step fenceGroup(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  tell(warp, groupEvent(SyncKind::RegisterFence, warp, instruction));
  return Step::Next;
}
static Step commitGroup(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  tell(warp, groupEvent(SyncKind::AsyncCommit, warp, instruction));
  commit(warp.products);
  return Step::Next;
}
static Step waitForGroup(Warp &warp, const Instruction &instruction) {
  if (!hasConverged(warp, kAllLanes))
    return Step::Wait;
  if (!waitForGroups(warp.products, instruction.immediate))
    return Step::Fail;
  tell(warp, groupEvent(SyncKind::AsyncWait, warp, instruction));
  return Step::Next;
}

//--- decoding ------------------------------------------------------------------------------

/// `{results}, left, right, predicate, signs of both, orders of those in shared memory`.
static void decodeGroupProduct(Decoder &decoder) {
  Shape shape{};
  const auto takeElement = [&] {
    return decoder.takeOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "f32", "s32"});
  };
  if (decoder.take("satfinite"))
    shape.flags |= Saturated;
  const std::string size = decoder.takeShape("m64n");
  const std::string result = takeElement(), left = takeElement(), right = takeElement();
  if (size.empty() || !matrixElementOf(left, shape.left) || !matrixElementOf(right, shape.right))
    return decoder.fail("this form of a matrix product is not known");
  shape.columns = uint16_t(std::stoi(size.substr(4)));
  if (shape.columns % 8 || shape.columns > 256)
    return decoder.fail("a product has a multiple of 8 columns up to 256");
  shape.flags |= result == "f16" ? HalfResult : result == "s32" ? Integer : 0;
  Instruction instruction;
  for (const Operand &part : decoder.operand(0).parts)
    instruction.list.push_back(decoder.destination(part, 4));
  if (instruction.list.size() != shape.columns / (result == "f16" ? 4u : 2u))
    return decoder.fail("the result has another number of registers");
  if (decoder.operand(1).kind == OperandKind::Vector) {
    shape.flags |= LeftInRegisters;
    for (const Operand &part : decoder.operand(1).parts)
      instruction.list.push_back(decoder.source(part, 4));
  } else {
    instruction.slots[0] = decoder.source(decoder.operand(1), 8);
  }
  instruction.slots[1] = decoder.source(decoder.operand(2), 8);
  instruction.slots[2] = decoder.operands().size() > 3 ? decoder.source(decoder.operand(3), 0) : decoder.constant(1, 0);
  shape.signs = uint8_t((int64_t(decoder.operand(4).bits) < 0) | (int64_t(decoder.operand(5).bits) < 0) << 1);
  const size_t order = decoder.operands().size();
  if (order >= 7)
    shape.isRightNMajor = decoder.operand(order - 1).bits;
  if (order == 8)
    shape.isLeftMMajor = decoder.operand(6).bits;
  instruction.immediate = std::bit_cast<uint64_t>(shape);
  instruction.execute = &multiplyGroup;
  decoder.add(std::move(instruction));
}

static void decodeGroup(Decoder &decoder) {
  decoder.take("sync"), decoder.take("aligned");
  if (decoder.take("fence"))
    return void(decoder.emit(&fenceGroup));
  if (decoder.take("commit_group"))
    return void(decoder.emit(&commitGroup));
  if (decoder.take("mma_async"))
    return decodeGroupProduct(decoder);
  if (!decoder.take("wait_group"))
    return decoder.fail("this form is not known");
  decoder.emit(&waitForGroup).immediate = decoder.operand(0).bits;
}

void nereid::sim::addWarpGroupOpcodes(OpcodeTable &table) {
  table.add("wgmma", decodeGroup, Kind::Other, ValueFlow::Defined);
}
