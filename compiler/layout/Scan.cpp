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
  llvm::SmallVector<std::optional<Holder>, 12> found(layout.outBits(layout.outputNames()[axis]));
  for (llvm::StringRef input : layout.inputNames())
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
      LinearLayout::Coordinates basis = layout.basis(input, bit);
      const uint32_t along = basis[axis];
      if (along == 0)
        continue;
      basis[axis] = 0;
      const bool isUnit = llvm::isPowerOf2_32(along) && llvm::all_of(basis, [](int32_t other) { return other == 0; });
      if (!isUnit || found[llvm::Log2_32(along)] || !llvm::is_contained(kInputs, input))
        return std::nullopt;
      found[llvm::Log2_32(along)] = {input, bit};
    }
  llvm::SmallVector<Holder, 12> holders;
  for (const std::optional<Holder> &holder : found) {
    if (!holder)
      return std::nullopt;
    holders.push_back(*holder);
  }
  return holders;
}

bool layout::isScannable(const LinearLayout &layout, unsigned axis) { return holdersOf(layout, axis).has_value(); }

/// Plans the runs inside warps; returns how many bits of the axis they cover.
static unsigned planRuns(llvm::ArrayRef<Holder> holders, ScanPlan &plan) {
  unsigned covered = 0;
  for (const Holder &holder : holders) {
    if (holder.input == kWarp)
      break; // higher bits are combined across warps
    const bool isOfLanes = holder.input == kLane;
    if (plan.runs.empty() || plan.runs.back().isOfLanes != isOfLanes)
      plan.runs.push_back({isOfLanes, {}});
    plan.runs.back().masks.push_back(1u << holder.bit);
    ++covered;
  }
  return covered;
}

namespace {
/// The images of each bit of an input in the row index and in the block index.
struct ScanBases {
  llvm::SmallVector<uint32_t, 10> rows, blocks;

  ScanBases(const LinearLayout &layout, const LinearLayout &withoutAxis, llvm::StringRef axis, llvm::StringRef input,
            unsigned covered) {
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
      rows.push_back(withoutAxis.columns(input)[bit]);
      blocks.push_back(uint32_t(layout.basis(input, bit, axis)) >> covered);
    }
  }
};
} // namespace

static constexpr llvm::StringLiteral kRow = "row", kBlockNumber = "blockNumber";

static LinearLayout::Input inputOf(llvm::StringRef name, llvm::ArrayRef<uint32_t> rows,
                                   llvm::ArrayRef<uint32_t> blocks) {
  LinearLayout::Input input{name.str(), {}};
  for (auto [row, block] : llvm::zip_equal(rows, blocks))
    input.bases.push_back({int32_t(row), int32_t(block)});
  return input;
}

static void planExchange(const LinearLayout &layout, unsigned axis, unsigned covered,
                         llvm::ArrayRef<unsigned> operandBits, const BankModel &banks, ScanPlan &plan) {
  llvm::SmallVector<llvm::StringRef, 4> outs = layout.outputNames();
  const llvm::StringRef axisName = outs[axis];
  outs.erase(outs.begin() + axis);
  const LinearLayout withoutAxis = layout.sublayout(layout.inputNames(), outs);
  const ScanBases registers(layout, withoutAxis, axisName, kRegister, covered),
      lanes(layout, withoutAxis, axisName, kLane, covered), warps(layout, withoutAxis, axisName, kWarp, covered);
  const unsigned blockBits = layout.outBits(axisName) - covered;
  ScanExchange &exchange = plan.exchange;
  exchange.numBlocks = 1u << blockBits;
  exchange.laneBases.assign(lanes.blocks.begin(), lanes.blocks.end());
  exchange.warpBases.assign(warps.blocks.begin(), warps.blocks.end());

  llvm::SmallVector<uint32_t, 10> groupRows, groupBlocks, readRows, readBlocks;
  for (unsigned bit = 0; bit < blockBits; ++bit) {
    readRows.push_back(0);
    readBlocks.push_back(1u << bit);
  }
  unsigned rowBits = 0;
  for (unsigned bit = 0; bit < layout.inBits(kRegister); ++bit) {
    const bool isCovered = layout.basis(kRegister, bit, axisName) && !registers.blocks[bit];
    if (isCovered || (plan.copies >> bit & 1))
      continue;
    const bool tellsRows = registers.blocks[bit] == 0;
    exchange.groups.push_back({1u << bit, registers.blocks[bit], tellsRows ? 1u << rowBits : 0});
    groupRows.push_back(registers.rows[bit]);
    groupBlocks.push_back(registers.blocks[bit]);
    if (tellsRows) {
      readRows.push_back(registers.rows[bit]);
      readBlocks.push_back(0);
      ++rowBits;
    }
  }
  const llvm::SmallVector<uint32_t, 6> noLanes(lanes.rows.size(), 0), noWarps(warps.rows.size(), 0);
  const LinearLayout::Output outputs[] = {{kRow.str(), int32_t(1) << withoutAxis.totalOutBits()},
                                          {kBlockNumber.str(), int32_t(1) << blockBits}};
  const LinearLayout held =
      LinearLayout::fromBases({inputOf(kRegister, groupRows, groupBlocks), inputOf(kLane, lanes.rows, lanes.blocks),
                               inputOf(kWarp, warps.rows, warps.blocks)},
                              outputs);
  const LinearLayout read =
      LinearLayout::fromBases({inputOf(kRegister, readRows, readBlocks), inputOf(kLane, lanes.rows, noLanes),
                               inputOf(kWarp, warps.rows, noWarps)},
                              outputs);
  SwizzleOptions options;
  options.maxBytes = ~0u;
  options.banks = banks;
  for (unsigned elemBits : operandBits) {
    ExchangeBuffer &buffer = exchange.operands.emplace_back();
    buffer.byteOffset = llvm::alignTo(plan.bytes, 16);
    buffer.plan = swizzle(held, read, elemBits, options);
    plan.bytes = buffer.byteOffset + buffer.plan.bytes;
  }
}

ScanPlan layout::planScan(const LinearLayout &layout, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                          const BankModel &banks) {
  const auto holders = holdersOf(layout, axis);
  assert(holders && "a scan's layout holds each bit of the axis once");
  ScanPlan plan;
  plan.copies = layout.freeVariableMask(kRegister);
  const unsigned covered = planRuns(*holders, plan);
  if (covered < holders->size())
    planExchange(layout, axis, covered, operandBits, banks, plan);
  return plan;
}
