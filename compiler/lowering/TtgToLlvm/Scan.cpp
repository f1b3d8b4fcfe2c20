// Executes plans of scans, with the region's ops emitted for each pair of values.
// SPDX-License-Identifier: MIT
//
// In a reverse scan "before" is the side of higher coordinates; only the tests of bits that give the order are
// inverted.
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/layout/Scan.h"
#include "compiler/lowering/Diagnostics.h"

#include <numeric>

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
  Row readLane(const Row &row, llvm::Value *lane);
  void putBefore(const Row &prefix, uint32_t group, llvm::Value *condition);
  SmallVector<uint32_t> groupBases(uint32_t without) const;
  void joinRegisters(const layout::ScanRun &run);
  struct RunLanes {
    struct Step {
      llvm::Value *source, *isLater;
    };
    SmallVector<Step, 5> steps;
    llvm::Value *last, *previous; ///< of the lanes of a block: the last, and the one before this
    llvm::Value *isLast, *hasPrevious;
    uint32_t all = 0; ///< bits
  };
  RunLanes lanesOf(const layout::ScanRun &run);
  llvm::Value *laneBefore(const layout::ScanRun &run, llvm::Value *lane);
  void joinLanes(const layout::ScanRun &run);
  bool isFirst(const layout::ScanRun &run) const { return &run == &plan.runs.front(); }
  bool isLast(const layout::ScanRun &run) const { return &run == &plan.runs.back(); }
  void storeTotals(const layout::ScanExchange &exchange, ArrayRef<uint32_t> groups);
  void chainTotals(const layout::ScanExchange &exchange, uint32_t group, llvm::function_ref<Row(uint32_t)> totalOf,
                   bool needsTotal);
  void joinWarps(const layout::ScanRun &run);
  void join(const layout::ScanRun &run);

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::ScanOp op;
  layout::ScanPlan plan;
  std::vector<Row> rows;            ///< of each register, scanned inside its block of the axis
  std::vector<Row> totals;          ///< of each block, at its first register
  llvm::Value *hasTotals = nullptr; ///< whether this lane has them; null: all do
  uint32_t totalLanes = 0;          ///< the bits of which this depends
  uint32_t joined = 0;              ///< register bits inside blocks
  bool hasBarrier = false;          ///< whether the buffer was used
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

ScanEmitter::Row ScanEmitter::readLane(const Row &row, llvm::Value *lane) {
  Row result;
  for (llvm::Value *value : row)
    result.push_back(
        emitter.wordwise(value, [&](llvm::Value *word) { return emitter.target.shuffleIndex(ir, word, lane); }));
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
      if (isFirst(run))
        before = rows[block];
      else
        before = position > 0 ? combine(before, totals[block]) : totals[block];
    }
    totals[group] = before;
  }
  joined |= runMask;
}

/// The run's bits of the lane whose block comes before that of `lane`, where the axis has them in another order.
llvm::Value *ScanEmitter::laneBefore(const layout::ScanRun &run, llvm::Value *lane) {
  llvm::Value *one = ir.getInt32(1), *position = ir.getInt32(0), *result = position;
  // Bit `from` of a number as bit `to`.
  auto moved = [&](llvm::Value *number, unsigned from, unsigned to) {
    return ir.CreateShl(ir.CreateAnd(ir.CreateLShr(number, from), one), to);
  };
  for (auto [bit, mask] : llvm::enumerate(run.masks))
    position = ir.CreateOr(position, moved(lane, llvm::Log2_32(mask), bit));
  position = op.getReverse() ? ir.CreateAdd(position, one) : ir.CreateSub(position, one);
  for (auto [bit, mask] : llvm::enumerate(run.masks))
    result = ir.CreateOr(result, moved(position, bit, llvm::Log2_32(mask)));
  return result;
}

/// The lanes that a run of lane bits is read from.
ScanEmitter::RunLanes ScanEmitter::lanesOf(const layout::ScanRun &run) {
  const bool isReverse = op.getReverse();
  SmallVector<uint32_t, 5> units;
  for (uint32_t unit = 1; unit < emitter.target.threadsPerWarp(); unit *= 2)
    units.push_back(unit);
  llvm::Value *lane = emitter.threadBits(units, {});
  RunLanes lanes;
  // The last lane of the lower half, or of the upper one in reverse, is the one before all those of the other half.
  const auto lastOf = [&](uint32_t bits, uint32_t half) {
    llvm::Value *others = ir.CreateAnd(lane, ir.getInt32(~(bits | half)));
    return isReverse ? ir.CreateOr(others, ir.getInt32(half)) : ir.CreateOr(others, ir.getInt32(bits));
  };
  for (uint32_t mask : run.masks) {
    llvm::Value *isLater = emitter.threadIsOdd(mask, 0);
    lanes.steps.push_back({lastOf(lanes.all, mask), isReverse ? ir.CreateNot(isLater) : isLater});
    lanes.all |= mask;
  }
  lanes.last = lastOf(lanes.all, 0);
  llvm::Value *bits = ir.getInt32(lanes.all), *otherBits = ir.getInt32(~lanes.all);
  llvm::Value *own = ir.CreateAnd(lane, bits), *previous;
  if (llvm::is_sorted(run.masks)) {
    // Borrows (carries in reverse) pass over the bits outside of the run.
    llvm::Value *stepped =
        isReverse ? ir.CreateAdd(ir.CreateOr(lane, otherBits), ir.getInt32(1)) : ir.CreateSub(own, ir.getInt32(1));
    previous = ir.CreateAnd(stepped, bits);
  } else {
    previous = laneBefore(run, lane);
  }
  lanes.previous = ir.CreateOr(ir.CreateAnd(lane, otherBits), previous);
  lanes.isLast = ir.CreateICmpEQ(own, ir.getInt32(isReverse ? 0 : lanes.all));
  lanes.hasPrevious = ir.CreateICmpNE(own, ir.getInt32(isReverse ? lanes.all : 0));
  return lanes;
}

/// Scans the totals over the lanes: in each step the half of the lanes that comes later adds the last of the other.
void ScanEmitter::joinLanes(const layout::ScanRun &run) {
  const RunLanes lanes = lanesOf(run);
  const bool areLastEnough = isLast(run) || std::next(&run)->kind == layout::ScanRun::Kind::Warps;
  for (uint32_t group : groupBases(0)) {
    Row scanned = totals[group];
    for (const auto &[source, isLater] : lanes.steps)
      scanned = select(isLater, combine(readLane(scanned, source), scanned), scanned);
    if (isFirst(run))
      rows[group] = scanned;
    else
      putBefore(readLane(scanned, lanes.previous), group, lanes.hasPrevious);
    totals[group] = areLastEnough ? scanned : readLane(scanned, lanes.last);
  }
  if (areLastEnough) {
    totalLanes = lanes.all;
    hasTotals = lanes.isLast;
  }
}

//--- across warps --------------------------------------------------------------------------

/// Writes the totals of the thread's rows for the other warps.
void ScanEmitter::storeTotals(const layout::ScanExchange &exchange, ArrayRef<uint32_t> groups) {
  for (auto [operand, buffer] : llvm::enumerate(exchange.operands)) {
    Tile column;
    for (uint32_t group : groups)
      column.push_back(totals[group][operand]);
    layout::SharedAccessPattern stores = buffer.plan.store;
    stores.idleLanes &= ~totalLanes;
    emitter.storeShared(emitter.sharedScratch(op, buffer.byteOffset), stores, 0, column, hasTotals);
  }
}

namespace {
/// Reads totals, adjacent for each row, where they are first used: a thread with many rows has no registers for all.
class TotalsReader {
public:
  TotalsReader(TtgFunctionEmitter &emitter, tt::ScanOp op, const layout::ScanExchange &exchange) {
    for (auto [operand, buffer] : llvm::enumerate(exchange.operands)) {
      const Type element = tt::elementOf(op.getSrcs()[operand].getType());
      columns.push_back(
          {buffer.plan, Tile(buffer.plan.loadedAs.size(), nullptr),
           SharedReader(emitter, emitter.sharedScratch(op, buffer.byteOffset), buffer.plan.load, element)});
    }
  }

  llvm::Value *read(unsigned operand, unsigned index) {
    Column &column = columns[operand];
    const uint32_t at = column.plan.loadedAs[index];
    for (const layout::SharedAccess &access : column.plan.load.accesses)
      if (!column.loaded[at] && llvm::is_contained(access.registers, at))
        column.reader.read(access, column.loaded);
    return column.loaded[at];
  }

private:
  struct Column {
    const layout::SharedPlan &plan;
    Tile loaded;
    SharedReader reader;
  };
  SmallVector<Column, 2> columns;
};
} // namespace

/// Puts the totals before the thread's block of a row before the block, and computes the row's total where it is
/// needed.
void ScanEmitter::chainTotals(const layout::ScanExchange &exchange, uint32_t group,
                              llvm::function_ref<Row(uint32_t)> totalOf, bool needsTotal) {
  llvm::Value *own = emitter.threadBits({}, exchange.warpBases);
  auto numberAt = [&](uint32_t at) { return op.getReverse() ? exchange.numBlocks - 1 - at : at; };
  auto isOwn = [&](uint32_t at) { return ir.CreateICmpEQ(own, ir.getInt32(numberAt(at))); };
  Row before = totalOf(numberAt(0)), prefix = before;
  for (uint32_t position = 1; position < exchange.numBlocks; ++position) {
    if (position > 1)
      prefix = select(isOwn(position), before, prefix);
    if (position + 1 < exchange.numBlocks || needsTotal)
      before = combine(before, totalOf(numberAt(position)));
  }
  putBefore(prefix, group, ir.CreateNot(isOwn(0)));
  totals[group] = before;
}

/// Rows of one round after the other pass through the buffer.
void ScanEmitter::joinWarps(const layout::ScanRun &run) {
  const layout::ScanExchange &exchange = run.exchange;
  auto maskOf = [](ArrayRef<uint32_t> masks) { return std::accumulate(masks.begin(), masks.end(), uint32_t(0)); };
  const SmallVector<uint32_t> rowsOfRound = subsetsOf(maskOf(exchange.rowMasks));
  for (uint32_t round : subsetsOf(maskOf(exchange.roundMasks))) {
    const auto groups = llvm::map_to_vector(rowsOfRound, [&](uint32_t row) { return round | row; });
    if (hasBarrier)
      emitter.barrier();
    storeTotals(exchange, groups);
    emitter.barrier();
    hasBarrier = true;
    TotalsReader reader(emitter, op, exchange);
    for (auto [row, group] : llvm::enumerate(groups)) {
      auto totalOf = [&](uint32_t block) {
        Row total;
        for (unsigned operand = 0; operand < op.getSrcs().size(); ++operand)
          total.push_back(reader.read(operand, row * exchange.numBlocks + block));
        return total;
      };
      chainTotals(exchange, group, totalOf, !isLast(run));
    }
  }
  hasTotals = nullptr;
  totalLanes = 0;
}

//--- emission ------------------------------------------------------------------------------

void ScanEmitter::join(const layout::ScanRun &run) {
  switch (run.kind) {
  case layout::ScanRun::Kind::Registers:
    return joinRegisters(run);
  case layout::ScanRun::Kind::Lanes:
    return joinLanes(run);
  case layout::ScanRun::Kind::Warps:
    return joinWarps(run);
  }
  llvm_unreachable("all kinds are listed");
}

LogicalResult ScanEmitter::run() {
  const unsigned count = numRegisters(op.getSrcs().front().getType());
  for (unsigned index = 0; index < count; ++index) {
    rows.emplace_back();
    for (Value operand : op.getSrcs())
      rows.back().push_back(emitter.tile(operand)[index]);
  }
  totals = rows;
  for (const layout::ScanRun &run : plan.runs)
    join(run);
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
