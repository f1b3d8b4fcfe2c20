// Plans scans along one dimension.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Scan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

namespace {
/// The bit of an input that holds a bit of the axis.
struct Holder {
  llvm::StringRef input;
  unsigned bit = 0;
};
} // namespace

static constexpr llvm::StringLiteral kInputs[] = {kRegister, kLane, kWarp};

/// The holder of each bit of the axis, from the lowest; nothing where the layout is not scannable.
static std::optional<llvm::SmallVector<Holder, 12>> holdersOf(const LinearLayout &layout, unsigned axis) {
  llvm::SmallVector<std::optional<Holder>, 12> holderOfBit(layout.outBits(layout.outputNames()[axis]));
  for (llvm::StringRef input : layout.inputNames())
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
      LinearLayout::Coordinates basis = layout.basis(input, bit);
      const uint32_t along = basis[axis];
      if (along == 0)
        continue;
      basis[axis] = 0;
      const bool isUnit = llvm::isPowerOf2_32(along) && llvm::all_of(basis, [](int32_t other) { return other == 0; });
      if (!isUnit || holderOfBit[llvm::Log2_32(along)] || !llvm::is_contained(kInputs, input))
        return std::nullopt;
      holderOfBit[llvm::Log2_32(along)] = {input, bit};
    }
  llvm::SmallVector<Holder, 12> holders;
  for (const std::optional<Holder> &holder : holderOfBit) {
    if (!holder)
      return std::nullopt;
    holders.push_back(*holder);
  }
  return holders;
}

bool layout::isScannable(const LinearLayout &layout, unsigned axis) { return holdersOf(layout, axis).has_value(); }

static ScanRun::Kind kindOf(llvm::StringRef input) {
  if (input == kRegister)
    return ScanRun::Kind::Registers;
  return input == kLane ? ScanRun::Kind::Lanes : ScanRun::Kind::Warps;
}

static void planRuns(llvm::ArrayRef<Holder> holders, ScanPlan &plan) {
  for (const Holder &holder : holders) {
    const ScanRun::Kind kind = kindOf(holder.input);
    if (plan.runs.empty() || plan.runs.back().kind != kind)
      plan.runs.push_back({kind, {}, {}});
    plan.runs.back().masks.push_back(1u << holder.bit);
  }
}

namespace {
/// The images of each bit of an input in the row index and in the block index.
struct ScanBases {
  BitColumns rows, blocks;

  /// Bits `begin` to `end` of the axis count blocks; the higher ones and the other dimensions count rows.
  ScanBases(const LinearLayout &layout, unsigned axis, llvm::StringRef input, unsigned begin, unsigned end) {
    llvm::SmallVector<llvm::StringRef, 4> outs = layout.outputNames();
    outs.erase(outs.begin() + axis);
    const LinearLayout withoutAxis = layout.sublayout(layout.inputNames(), outs);
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
      const uint64_t along = layout.basis(input, bit)[axis];
      rows.push_back(withoutAxis.columns(input)[bit] | along >> end << withoutAxis.totalOutBits());
      blocks.push_back((along & ((uint64_t(1) << end) - 1)) >> begin);
    }
  }

  /// Numbers the rows in the span of `basis`, in place of their coordinates.
  void number(const BitSpan &basis) {
    for (BitVector &row : rows)
      row = basis.express(row).value_or(0);
  }
};
} // namespace

static constexpr llvm::StringLiteral kRow = "row", kBlockNumber = "blockNumber";

static LinearLayout::Input inputOf(llvm::StringRef name, BitColumnsRef rows, BitColumnsRef blocks) {
  LinearLayout::Input input{name.str(), {}};
  for (auto [row, block] : llvm::zip_equal(rows, blocks))
    input.bases.push_back({int32_t(row), int32_t(block)});
  return input;
}

/// Chooses the register bits that distinguish rounds: the highest, until the totals of a round fit. Returns a basis of
/// the rows of a round.
static BitColumns chooseRounds(BitColumns registerRows, BitColumnsRef threadRows, llvm::ArrayRef<unsigned> operandBits,
                               uint32_t maxBytes, ScanExchange &exchange) {
  uint64_t bytesOfTotal = 0;
  for (unsigned bits : operandBits)
    bytesOfTotal += elementBytes(bits);
  while (true) {
    BitColumns basis = extend({}, threadRows);
    basis.append(extend(basis, registerRows));
    if (bytesOfTotal * exchange.numBlocks << basis.size() <= maxBytes || registerRows.empty())
      return basis;
    registerRows.pop_back();
    exchange.roundMasks.push_back(exchange.rowMasks.pop_back_val());
  }
}

/// Plans the exchange of the run of warps whose lowest bit of the axis is `begin`.
static void planExchange(const LinearLayout &layout, unsigned axis, unsigned begin,
                         llvm::ArrayRef<unsigned> operandBits, uint32_t maxBytes, const BankModel &banks, ScanRun &run,
                         ScanPlan &plan) {
  const unsigned blockBits = run.masks.size(), end = begin + blockBits;
  ScanBases registers(layout, axis, kRegister, begin, end), lanes(layout, axis, kLane, begin, end),
      warps(layout, axis, kWarp, begin, end);
  ScanExchange &exchange = run.exchange;
  exchange.numBlocks = 1u << blockBits;
  llvm::append_range(exchange.warpBases, warps.blocks);
  BitColumns registerRows, threadRows(lanes.rows);
  threadRows.append(warps.rows);
  for (auto [bit, row] : llvm::enumerate(registers.rows))
    if (row && !(plan.copies >> bit & 1)) {
      exchange.rowMasks.push_back(1u << bit);
      registerRows.push_back(row);
    }
  const BitSpan basis(chooseRounds(registerRows, threadRows, operandBits, maxBytes, exchange));
  registerRows.truncate(exchange.rowMasks.size());
  lanes.number(basis);
  warps.number(basis);
  const BitColumns noBlocks(std::max({registerRows.size(), lanes.rows.size(), warps.rows.size()}), 0);
  const BitColumnsRef none(noBlocks);
  BitColumns heldRows, readRows(blockBits, 0), readBlocks = unitVectors(blockBits);
  for (BitVector row : registerRows)
    heldRows.push_back(basis.express(row).value_or(0));
  readRows.append(heldRows);
  readBlocks.append(heldRows.size(), 0);
  const LinearLayout::Output outputs[] = {{kRow.str(), int32_t(1) << basis.rank()},
                                          {kBlockNumber.str(), int32_t(1) << blockBits}};
  const LinearLayout held = LinearLayout::fromBases({inputOf(kRegister, heldRows, none.take_front(heldRows.size())),
                                                     inputOf(kLane, lanes.rows, none.take_front(lanes.rows.size())),
                                                     inputOf(kWarp, warps.rows, warps.blocks)},
                                                    outputs);
  const LinearLayout read = LinearLayout::fromBases({inputOf(kRegister, readRows, readBlocks),
                                                     inputOf(kLane, lanes.rows, none.take_front(lanes.rows.size())),
                                                     inputOf(kWarp, warps.rows, none.take_front(warps.rows.size()))},
                                                    outputs);
  SwizzleOptions options;
  options.maxBytes = ~0u;
  options.banks = banks;
  uint32_t bytes = 0;
  for (unsigned elemBits : operandBits) {
    ExchangeBuffer &buffer = exchange.operands.emplace_back();
    buffer.byteOffset = llvm::alignTo(bytes, 16);
    buffer.plan = swizzle(held, read, elemBits, options);
    bytes = buffer.byteOffset + buffer.plan.bytes;
  }
  plan.bytes = std::max(plan.bytes, bytes);
}

ScanPlan layout::planScan(const LinearLayout &layout, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                          uint32_t maxBytes, const BankModel &banks) {
  const auto holders = holdersOf(layout, axis);
  assert(holders && "a scan's layout holds each bit of the axis once");
  ScanPlan plan;
  plan.copies = layout.freeVariableMask(kRegister);
  planRuns(*holders, plan);
  unsigned begin = 0;
  for (ScanRun &run : plan.runs) {
    if (run.kind == ScanRun::Kind::Warps)
      planExchange(layout, axis, begin, operandBits, maxBytes, banks, run, plan);
    begin += run.masks.size();
  }
  return plan;
}

unsigned ScanPlan::barriers() const {
  unsigned rounds = 0;
  for (const ScanRun &run : runs)
    rounds += run.kind == ScanRun::Kind::Warps ? run.exchange.rounds() : 0;
  return rounds ? 2 * rounds - 1 : 0;
}
