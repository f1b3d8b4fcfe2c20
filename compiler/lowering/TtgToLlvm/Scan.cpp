// Executes plans of scans, with the region's ops emitted for each pair of values.
// SPDX-License-Identifier: MIT
//
// In a reverse scan "before" is the side of higher coordinates; only the tests of bits that give the order are
// inverted.
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/layout/Scan.h"
#include "compiler/lowering/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

namespace {

/// Emits the scan of one op. A `Row` has a value of each operand.
class ScanEmitter {
public:
  ScanEmitter(TtgFunctionEmitter &emitter, tt::ScanOp op, layout::ScanPlan plan)
      : emitter(emitter), ir(emitter.ir), op(op), plan(std::move(plan)) {}
  LogicalResult run();

private:
  using Row = llvm::SmallVector<llvm::Value *, 2>;
  Row combine(const Row &before, const Row &after);
  Row select(llvm::Value *condition, const Row &yes, const Row &no);
  Row shuffle(const Row &row, uint32_t laneXor);
  void putBefore(const Row &prefix, uint32_t group, llvm::Value *condition);
  SmallVector<uint32_t> groupBases(uint32_t without) const;
  void joinRegisters(const layout::ScanRun &run);
  void joinLanes(const layout::ScanRun &run);
  std::vector<Row> exchangeTotals();
  void joinWarps();
  void joinBlocks(ArrayRef<Row> totalsOfRow, ArrayRef<std::pair<uint32_t, uint32_t>> groups);

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::ScanOp op;
  layout::ScanPlan plan;
  std::vector<Row> rows;   ///< of each register, scanned inside its block of the axis
  std::vector<Row> totals; ///< of each block, at its first register
  uint32_t joined = 0;     ///< register bits inside blocks
  bool isFailed = false;
};

} // namespace

//--- rows ----------------------------------------------------------------------------------

ScanEmitter::Row ScanEmitter::combine(const Row &before, const Row &after) {
  Tile arguments(before.begin(), before.end());
  arguments.append(after.begin(), after.end());
  FailureOr<Tile> result = emitter.emitRegion(op.getCombine().front(), arguments);
  isFailed |= failed(result);
  return failed(result) ? before : Row(result->begin(), result->end());
}

ScanEmitter::Row ScanEmitter::select(llvm::Value *condition, const Row &yes, const Row &no) {
  Row result;
  for (auto [a, b] : llvm::zip_equal(yes, no))
    result.push_back(ir.CreateSelect(condition, a, b));
  return result;
}

ScanEmitter::Row ScanEmitter::shuffle(const Row &row, uint32_t laneXor) {
  Row result;
  for (llvm::Value *value : row)
    result.push_back(
        emitter.wordwise(value, [&](llvm::Value *word) { return emitter.target.shuffleXor(ir, word, laneXor); }));
  return result;
}

/// The numbers whose bits are among those of `mask`, in increasing order.
static SmallVector<uint32_t> subsetsOf(uint32_t mask) {
  SmallVector<uint32_t> subsets = {0};
  for (uint32_t next = mask & -mask; next; next = (next - mask) & mask)
    subsets.push_back(next);
  return subsets;
}

/// The first registers of blocks, without the bits given.
SmallVector<uint32_t> ScanEmitter::groupBases(uint32_t without) const {
  return subsetsOf(uint32_t(rows.size() - 1) & ~(plan.copies | joined | without));
}

/// Combines `prefix` with the elements of the block after it, where the condition (null: always) is true.
void ScanEmitter::putBefore(const Row &prefix, uint32_t group, llvm::Value *condition) {
  for (uint32_t element : subsetsOf(joined)) {
    Row &row = rows[group | element];
    const Row with = combine(prefix, row);
    row = condition ? select(condition, with, row) : with;
  }
}

//--- inside warps --------------------------------------------------------------------------

void ScanEmitter::joinRegisters(const layout::ScanRun &run) {
  uint32_t runMask = 0;
  for (uint32_t mask : run.masks)
    runMask |= mask;
  auto member = [&](uint32_t position) {
    uint32_t bits = 0;
    for (auto [bit, mask] : llvm::enumerate(run.masks))
      bits |= (position >> bit & 1) != op.getReverse() ? mask : 0;
    return bits;
  };
  for (uint32_t group : groupBases(runMask)) {
    Row before;
    for (uint32_t position = 0; position < 1u << run.masks.size(); ++position) {
      const uint32_t block = group | member(position);
      if (position > 0)
        putBefore(before, block, nullptr);
      // A block of one element is its own total.
      if (&run == &plan.runs.front())
        before = rows[block];
      else
        before = position > 0 ? combine(before, totals[block]) : totals[block];
    }
    totals[group] = before;
  }
  joined |= runMask;
}

void ScanEmitter::joinLanes(const layout::ScanRun &run) {
  for (uint32_t group : groupBases(0)) {
    Row total = totals[group], prefix;
    llvm::Value *hasPrefix = nullptr;
    for (uint32_t mask : run.masks) {
      const Row other = shuffle(total, mask);
      llvm::Value *isLater = emitter.threadIsOdd(mask, 0);
      if (op.getReverse())
        isLater = ir.CreateNot(isLater);
      if (!hasPrefix) {
        prefix = other;
        hasPrefix = isLater;
      } else {
        const Row longer = select(hasPrefix, combine(other, prefix), other);
        prefix = select(isLater, longer, prefix);
        hasPrefix = ir.CreateOr(hasPrefix, isLater);
      }
      total = combine(select(isLater, other, total), select(isLater, total, other));
    }
    totals[group] = total;
    putBefore(prefix, group, hasPrefix);
  }
}

//--- across warps --------------------------------------------------------------------------

/// The totals of all blocks of each row that the thread has a part of, adjacent for each row.
std::vector<ScanEmitter::Row> ScanEmitter::exchangeTotals() {
  const layout::ScanExchange &exchange = plan.exchange;
  for (auto [operand, buffer] : llvm::enumerate(exchange.operands)) {
    Tile column;
    for (uint32_t number = 0; number < 1u << exchange.groups.size(); ++number) {
      uint32_t group = 0;
      for (auto [bit, part] : llvm::enumerate(exchange.groups))
        group |= number >> bit & 1 ? part.mask : 0;
      column.push_back(totals[group][operand]);
    }
    emitter.storeShared(emitter.sharedScratch(op, buffer.byteOffset), buffer.plan.store, 0, column);
  }
  emitter.barrier();
  std::vector<Row> loaded;
  for (auto [operand, buffer] : llvm::enumerate(exchange.operands)) {
    Tile column(buffer.plan.loadedAs.size(), nullptr);
    const Type element = tt::elementOf(op.getSrcs()[operand].getType());
    emitter.loadShared(emitter.sharedScratch(op, buffer.byteOffset), buffer.plan.load, 0, element, column);
    loaded.resize(column.size());
    for (unsigned index = 0; index < loaded.size(); ++index)
      loaded[index].push_back(column[buffer.plan.loadedAs[index]]);
  }
  return loaded;
}

/// Scans one row: `groups` are the thread's blocks, each with the bits that its registers add to its index.
void ScanEmitter::joinBlocks(ArrayRef<Row> totalsOfRow, ArrayRef<std::pair<uint32_t, uint32_t>> groups) {
  const layout::ScanExchange &exchange = plan.exchange;
  uint32_t registerBits = 0;
  for (const auto &part : exchange.groups)
    registerBits |= part.block;
  const uint32_t threadBits = (exchange.numBlocks - 1) & ~registerBits;
  llvm::Value *threadPart = emitter.threadBits(exchange.laneBases, exchange.warpBases);
  auto numberAt = [&](uint32_t position) { return op.getReverse() ? exchange.numBlocks - 1 - position : position; };
  auto isOwn = [&](uint32_t number) { return ir.CreateICmpEQ(threadPart, ir.getInt32(number & threadBits)); };
  std::vector<Row> prefixes(groups.size());
  Row before = totalsOfRow[numberAt(0)];
  for (uint32_t position = 1; position < exchange.numBlocks; ++position) {
    const uint32_t number = numberAt(position);
    for (auto [index, group] : llvm::enumerate(groups))
      if ((number & registerBits) == group.second)
        prefixes[index] = prefixes[index].empty() ? before : select(isOwn(number), before, prefixes[index]);
    if (position + 1 < exchange.numBlocks)
      before = combine(before, totalsOfRow[number]);
  }
  for (auto [index, group] : llvm::enumerate(groups)) {
    const bool mayBeFirst = (numberAt(0) & registerBits) == group.second;
    if (!prefixes[index].empty())
      putBefore(prefixes[index], group.first, mayBeFirst ? ir.CreateNot(isOwn(numberAt(0))) : nullptr);
  }
}

void ScanEmitter::joinWarps() {
  const layout::ScanExchange &exchange = plan.exchange;
  const std::vector<Row> loaded = exchangeTotals();
  std::vector<SmallVector<std::pair<uint32_t, uint32_t>>> groupsOfRow(loaded.size() / exchange.numBlocks);
  for (uint32_t group : groupBases(0)) {
    uint32_t block = 0, row = 0;
    for (const auto &part : exchange.groups)
      if (group & part.mask) {
        block |= part.block;
        row |= part.row;
      }
    groupsOfRow[row].emplace_back(group, block);
  }
  for (auto [row, groups] : llvm::enumerate(groupsOfRow))
    joinBlocks(ArrayRef<Row>(loaded).slice(row * exchange.numBlocks, exchange.numBlocks), groups);
}

//--- emission ------------------------------------------------------------------------------

LogicalResult ScanEmitter::run() {
  const unsigned count = numRegisters(op.getSrcs().front().getType());
  for (unsigned index = 0; index < count; ++index) {
    rows.emplace_back();
    for (Value operand : op.getSrcs())
      rows.back().push_back(emitter.tile(operand)[index]);
  }
  totals = rows;
  for (const layout::ScanRun &run : plan.runs)
    run.isOfLanes ? joinLanes(run) : joinRegisters(run);
  if (plan.crossesWarps())
    joinWarps();
  if (isFailed)
    return failure();
  for (auto [operand, value] : llvm::enumerate(op.getResults())) {
    Tile tile;
    for (unsigned index = 0; index < count; ++index)
      tile.push_back(rows[index & ~plan.copies][operand]);
    emitter.define(value, std::move(tile));
  }
  return success();
}

static LogicalResult emitScan(TtgFunctionEmitter &emitter, tt::ScanOp op) {
  const layout::LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(op.getSrcs().front().getType()));
  if (!layout::isScannable(layout, op.getAxis()))
    return tt::report(op.getLoc(), diag::ScanLayout);
  SmallVector<unsigned> bits;
  for (Value operand : op.getSrcs())
    bits.push_back(analysis::memoryBits(tt::elementOf(operand.getType())));
  return ScanEmitter(emitter, op, layout::planScan(layout, op.getAxis(), bits)).run();
}

void lowering::addScanEmitters(OpEmitters &table) { table.add<emitScan, tt::ScanOp>(); }
