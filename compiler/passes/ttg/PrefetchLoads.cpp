// Issues loads of a loop one iteration ahead and carries the loaded tiles in registers.
//
//   for i { %x = load(p(i)) ... }   ->   %x0 = load(p(lb), lb < ub)
//                                        for i iter_args(%x = %x0) { %next = load(p(i + step), ub - i > step) ... }
//
// A load moves above the stores of the previous iteration. This requires that its pointer and those of all stores in
// the loop start from different kernel arguments. More than one stage asserts that no iteration reads through one
// argument what an earlier one wrote through another.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/PointerBases.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/LoopParts.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_PREFETCHLOADS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
/// Collects the ops of one loop's body that compute the operands of prefetched loads from the induction variable, in
/// order.
class Prefetcher {
public:
  explicit Prefetcher(scf::ForOp loop) : loop(loop) {}

  void collect(unsigned registerBudget);
  bool isEmpty() const { return loads.empty(); }
  unsigned size() const { return loads.size(); }
  void apply(RewriterBase &rewriter);

private:
  bool isAddressable(Value value);
  bool mayPrefetch(tt::LoadOp load, const analysis::Bases &written);
  SmallVector<Value> cloneLoads(OpBuilder &builder, Value index, Value exists);
  Value maskFor(OpBuilder &builder, tt::LoadOp load, const IRMapping &mapping, Value exists);

  scf::ForOp loop;
  SmallVector<tt::LoadOp> loads;
  llvm::SetVector<Operation *> slice;
};
} // namespace

/// True where `value` depends on the induction variable and loop invariants alone; adds its ops to the slice.
bool Prefetcher::isAddressable(Value value) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  if (slice.contains(op))
    return true;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return isAddressable(operand); }))
    return false;
  slice.insert(op);
  return true;
}

bool Prefetcher::mayPrefetch(tt::LoadOp load, const analysis::Bases &written) {
  if (load.getIsVolatile() || load.getCache() == tt::CacheModifier::CV || !encodingOf(load.getType()))
    return false;
  if (!analysis::staysUnwritten(load.getPtr(), written))
    return false;
  return llvm::all_of(load->getOperands(), [&](Value operand) { return isAddressable(operand); });
}

/// 32-bit registers per thread; narrower elements take one each.
static unsigned registersOf(RankedTensorType tile) {
  const unsigned words = std::max(1u, analysis::memoryBits(tile.getElementType()) / 32);
  return linearLayoutOf(tile).inSize(layout::kRegister) * words;
}

void Prefetcher::collect(unsigned registerBudget) {
  const auto written = analysis::writtenBases(loop);
  if (!written)
    return;
  for (Operation &op : *loop.getBody()) {
    auto load = dyn_cast<tt::LoadOp>(op);
    if (!load || !mayPrefetch(load, *written))
      continue;
    const unsigned registers = registersOf(cast<RankedTensorType>(load.getType()));
    if (registers > registerBudget)
      continue;
    registerBudget -= registers;
    loads.push_back(load);
  }
}

/// The load's mask, false where the iteration does not exist.
Value Prefetcher::maskFor(OpBuilder &builder, tt::LoadOp load, const IRMapping &mapping, Value exists) {
  const Location loc = load.getLoc();
  Value all = tt::SplatOp::create(builder, loc, tt::i1Like(load.getType()), exists);
  if (!load.getMask())
    return all;
  return arith::AndIOp::create(builder, loc, mapping.lookupOrDefault(load.getMask()), all);
}

/// The loads of the iteration with induction variable `index`; nothing is loaded where it does not exist.
SmallVector<Value> Prefetcher::cloneLoads(OpBuilder &builder, Value index, Value exists) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), index);
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  SmallVector<Value> values;
  for (tt::LoadOp load : loads) {
    Value mask = maskFor(builder, load, mapping, exists);
    Value other = load.getOther() ? mapping.lookupOrDefault(load.getOther()) : Value();
    auto copy = tt::LoadOp::create(builder, load.getLoc(), load.getType(), mapping.lookupOrDefault(load.getPtr()), mask,
                                   other, load.getCache(), load.getEvict(), /*isVolatile=*/false);
    copy->setDiscardableAttrs(load->getDiscardableAttrDictionary());
    values.push_back(copy);
  }
  return values;
}

void Prefetcher::apply(RewriterBase &rewriter) {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value hasFirst = hasIteration(rewriter, loop);
  const SmallVector<Value> first = cloneLoads(rewriter, loop.getLowerBound(), hasFirst);

  auto yieldNext = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> carried) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    // ub - i is exact as an unsigned number, where i + step may overflow.
    Value index = loop.getInductionVar();
    Value left = arith::SubIOp::create(builder, loc, loop.getUpperBound(), index);
    Value hasNext = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, left, loop.getStep());
    Value next = arith::AddIOp::create(builder, loc, index, loop.getStep());
    SmallVector<Value> values = cloneLoads(builder, next, hasNext);
    for (auto [load, argument] : llvm::zip_equal(loads, carried))
      load.getResult().replaceAllUsesWith(argument);
    return values;
  };
  // Adding carried values to a loop cannot fail.
  (void)loop.replaceWithAdditionalYields(rewriter, first, /*replaceInitOperandUsesInLoop=*/false, yieldNext);
  for (tt::LoadOp load : loads)
    rewriter.eraseOp(load);
  for (Operation *op : llvm::reverse(slice))
    if (op->use_empty())
      rewriter.eraseOp(op);
}

static unsigned stagesOf(scf::ForOp loop, unsigned otherwise) {
  auto stages = loop->getAttrOfType<IntegerAttr>(tt::kNumStages);
  return stages ? stages.getInt() : otherwise;
}

/// Kernels must stay correct on arrays that overlap: only a loop's own num_stages says that they do not.
static void remarkUnused(scf::ForOp loop, unsigned stages) { tt::report(loop.getLoc(), diag::StagesIgnored, stages); }

namespace {
struct PrefetchLoads : ttg::impl::PrefetchLoadsBase<PrefetchLoads> {
  using PrefetchLoadsBase::PrefetchLoadsBase;

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      if (loop->hasAttr(tt::kScheduledStage))
        continue; // already pipelined
      const bool saysNothing = !loop->hasAttr(tt::kNumStages);
      const unsigned stages = stagesOf(loop, defaultStages);
      loop->removeAttr(tt::kNumStages);
      Prefetcher prefetcher(loop);
      if (stages > 1 || askedStages > 1)
        prefetcher.collect(registerBudget);
      if (prefetcher.isEmpty())
        continue;
      if (stages <= 1) {
        if (saysNothing)
          remarkUnused(loop, askedStages);
        continue;
      }
      numPrefetched += prefetcher.size();
      prefetcher.apply(rewriter);
    }
  }
};
} // namespace
