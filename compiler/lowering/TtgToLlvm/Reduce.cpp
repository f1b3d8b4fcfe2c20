// Executes plans of reductions, with the region's ops emitted for each pair of values.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/layout/Reduction.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

namespace {

/// Emits the reduction of one op. A `Row` has a value of each operand.
class ReductionEmitter {
public:
  ReductionEmitter(TtgFunctionEmitter &emitter, tt::ReduceOp op) : emitter(emitter), ir(emitter.ir), op(op) {}
  LogicalResult run();

private:
  using Row = llvm::SmallVector<llvm::Value *, 2>;
  Row combine(const Row &a, const Row &b);
  Row combineAll(ArrayRef<Row> rows);
  void combineLanes(ArrayRef<layout::ReductionStep> steps, std::vector<Row> &rows);
  std::vector<Row> exchange(const layout::ReductionPlan &plan, ArrayRef<Row> partials);
  std::optional<WarpReduction> wholeWarp(ArrayRef<layout::ReductionStep> steps);

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::ReduceOp op;
  bool isFailed = false;
};

} // namespace

ReductionEmitter::Row ReductionEmitter::combine(const Row &a, const Row &b) {
  Tile arguments(a.begin(), a.end());
  arguments.append(b.begin(), b.end());
  FailureOr<Tile> result = emitter.emitRegion(op.getCombine().front(), arguments);
  isFailed |= failed(result);
  return failed(result) ? a : Row(result->begin(), result->end());
}

/// Combines in four parallel chains that merge at the end: products still fuse into sums, and a sum does not wait for
/// the one before it.
ReductionEmitter::Row ReductionEmitter::combineAll(ArrayRef<Row> rows) {
  SmallVector<Row, 4> chains(rows.take_front(4));
  for (unsigned index = chains.size(); index < rows.size(); ++index)
    chains[index % 4] = combine(chains[index % 4], rows[index]);
  while (chains.size() > 1) {
    SmallVector<Row, 4> pairs;
    for (unsigned index = 0; index + 1 < chains.size(); index += 2)
      pairs.push_back(combine(chains[index], chains[index + 1]));
    if (chains.size() % 2)
      pairs.push_back(chains.back());
    chains = std::move(pairs);
  }
  return chains.front();
}

/// The instruction that combines all lanes at once, where region and steps allow one.
std::optional<WarpReduction> ReductionEmitter::wholeWarp(ArrayRef<layout::ReductionStep> steps) {
  Block &block = op.getCombine().front();
  if (op.getSrcs().size() != 1 || !tt::elementOf(op.getSrcs().front().getType()).isInteger(32) ||
      !llvm::hasNItems(block, 2) || block.front().getNumOperands() != 2 ||
      block.getTerminator()->getOperand(0).getDefiningOp() != &block.front())
    return std::nullopt;
  uint32_t reached = 0;
  for (const layout::ReductionStep &step : steps) {
    if (step.partialXor || !llvm::isPowerOf2_32(step.laneXor))
      return std::nullopt;
    reached |= step.laneXor;
  }
  for (Value operand : block.front().getOperands())
    if (!isa<BlockArgument>(operand))
      return std::nullopt;
  if (reached != emitter.target.threadsPerWarp() - 1 || block.front().getOperand(0) == block.front().getOperand(1))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<WarpReduction>>(&block.front())
      .Case<arith::AddIOp>([](auto) { return WarpReduction::Add; })
      .Case<arith::MinSIOp>([](auto) { return WarpReduction::MinSigned; })
      .Case<arith::MaxSIOp>([](auto) { return WarpReduction::MaxSigned; })
      .Case<arith::MinUIOp>([](auto) { return WarpReduction::MinUnsigned; })
      .Case<arith::MaxUIOp>([](auto) { return WarpReduction::MaxUnsigned; })
      .Case<arith::AndIOp>([](auto) { return WarpReduction::And; })
      .Case<arith::OrIOp>([](auto) { return WarpReduction::Or; })
      .Case<arith::XOrIOp>([](auto) { return WarpReduction::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

void ReductionEmitter::combineLanes(ArrayRef<layout::ReductionStep> steps, std::vector<Row> &rows) {
  if (std::optional<WarpReduction> kind = wholeWarp(steps))
    if (llvm::Value *first = emitter.target.reduceWarp(ir, *kind, rows.front().front())) {
      rows.front() = {first};
      for (unsigned index = 1; index < rows.size(); ++index)
        rows[index] = {emitter.target.reduceWarp(ir, *kind, rows[index].front())};
      return;
    }
  for (const layout::ReductionStep &step : steps) {
    const std::vector<Row> before = rows;
    for (unsigned index = 0; index < rows.size(); ++index) {
      Row other;
      for (llvm::Value *value : before[index ^ step.partialXor])
        other.push_back(emitter.wordwise(
            value, [&](llvm::Value *word) { return emitter.target.shuffleXor(ir, word, step.laneXor); }));
      rows[index] = combine(before[index], other);
    }
  }
}

std::vector<ReductionEmitter::Row> ReductionEmitter::exchange(const layout::ReductionPlan &plan,
                                                              ArrayRef<Row> partials) {
  const layout::ReductionExchange &exchangePlan = plan.exchange;
  for (auto [operand, buffer] : llvm::enumerate(exchangePlan.operands)) {
    Tile column;
    for (const Row &partial : partials)
      column.push_back(partial[operand]);
    emitter.storeShared(emitter.sharedScratch(op, buffer.byteOffset), buffer.plan.store, 0, column);
  }
  emitter.barrier();
  const unsigned numResults = plan.result.inSize(layout::kRegister);
  std::vector<Row> loaded(numResults * exchangePlan.fanIn);
  for (auto [operand, buffer] : llvm::enumerate(exchangePlan.operands)) {
    Tile column(loaded.size(), nullptr);
    const Type element = tt::elementOf(op.getSrcs()[operand].getType());
    emitter.loadShared(emitter.sharedScratch(op, buffer.byteOffset), buffer.plan.load, 0, element, column);
    for (unsigned index = 0; index < loaded.size(); ++index)
      loaded[index].push_back(column[buffer.plan.loadedAs[index]]);
  }
  std::vector<Row> results;
  for (unsigned index = 0; index < numResults; ++index)
    results.push_back(combineAll(ArrayRef<Row>(loaded).slice(index * exchangePlan.fanIn, exchangePlan.fanIn)));
  combineLanes(exchangePlan.laneSteps, results);
  return results;
}

LogicalResult ReductionEmitter::run() {
  auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
  SmallVector<unsigned> bits;
  for (Value operand : op.getSrcs())
    bits.push_back(analysis::memoryBits(tt::elementOf(operand.getType())));
  const layout::ReductionPlan plan = layout::planReduction(ttg::linearLayoutOf(type), op.getAxis(), bits);
  std::vector<Row> partials;
  for (ArrayRef<uint32_t> group : plan.groups) {
    SmallVector<Row> rows;
    for (uint32_t index : group) {
      rows.emplace_back();
      for (Value operand : op.getSrcs())
        rows.back().push_back(emitter.tile(operand)[index]);
    }
    partials.push_back(combineAll(rows));
  }
  combineLanes(plan.laneSteps, partials);
  std::vector<Row> results;
  if (plan.crossesWarps)
    results = exchange(plan, partials);
  else
    for (uint32_t index : plan.resultPartial)
      results.push_back(partials[index]);
  if (isFailed)
    return failure();
  for (auto [operand, value] : llvm::enumerate(op.getResults())) {
    Tile tile;
    for (const Row &row : results)
      tile.push_back(row[operand]);
    assert(tile.size() == numRegisters(value.getType()) && "a reduction's result has the layout of its type");
    emitter.define(value, std::move(tile));
  }
  return success();
}

static LogicalResult emitReduce(TtgFunctionEmitter &emitter, tt::ReduceOp op) {
  return ReductionEmitter(emitter, op).run();
}

void lowering::addReduceEmitters(OpEmitters &table) { table.add<emitReduce, tt::ReduceOp>(); }
