// Unrolls loops with an unroll factor before layouts are chosen, so that the loads of all copies are pipelined.
//
//   for %i = %lb to %ub step s { B(%i) } {tt.loop_unroll_factor = 2}
//     ->  for %i = %lb to %mid step 2s { B(%i); B(%i + s) }
//         for %i = %mid to %ub step s { B(%i) }            // remainder, where there may be one
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/passes/ttg/TripCount.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// The step of the unrolled loop; nothing where it is unknown or overflows its type.
static std::optional<APInt> stepOfAll(scf::ForOp loop, unsigned factor) {
  const std::optional<APInt> step = loop.getConstantStep();
  if (!step || !step->isStrictlyPositive())
    return std::nullopt;
  bool overflows = !APInt(64, factor).isSignedIntN(step->getBitWidth());
  const APInt all = step->smul_ov(APInt(step->getBitWidth(), factor), overflows);
  return overflows ? std::nullopt : std::optional(all);
}

/// A loop over the iterations in groups of `factor`, up to `end`.
static scf::ForOp createGroups(OpBuilder &builder, scf::ForOp loop, Value end, Value stepOfAll, unsigned factor) {
  auto body = [&](OpBuilder &inside, Location loc, Value index, ValueRange carried) {
    SmallVector<Value> values(carried);
    for (unsigned iteration = 0; iteration < factor; ++iteration) {
      IRMapping mapping;
      mapping.map(loop.getRegionIterArgs(), values);
      mapping.map(loop.getInductionVar(), index);
      for (Operation &op : loop.getBody()->without_terminator())
        inside.clone(op, mapping);
      values.clear();
      for (Value yielded : loop.getYieldedValues())
        values.push_back(mapping.lookupOrDefault(yielded));
      if (iteration + 1 < factor)
        index = arith::AddIOp::create(inside, loc, index, loop.getStep());
    }
    scf::YieldOp::create(inside, loc, values);
  };
  auto groups = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), end, stepOfAll, loop.getInitArgs(),
                                   body, loop.getUnsignedCmp());
  groups->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  return groups;
}

static void unroll(scf::ForOp loop, const APInt &step, unsigned factor, RewriterBase &rewriter) {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value span = spanOf(rewriter, loop);
  Value all = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(span.getType(), step));
  Value groups = rewriter.createOrFold<arith::DivUIOp>(loc, span, all);
  Value done = rewriter.createOrFold<arith::MulIOp>(loc, groups, all);
  Value end = rewriter.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), done);
  scf::ForOp unrolled = createGroups(rewriter, loop, end, all, factor);
  IntegerAttr spanNumber, doneNumber;
  const bool isWhole = matchPattern(span, m_Constant(&spanNumber)) && matchPattern(done, m_Constant(&doneNumber)) &&
                       spanNumber == doneNumber;
  if (isWhole) {
    rewriter.replaceOp(loop, unrolled.getResults());
  } else {
    loop.setLowerBound(end);
    loop.getInitArgsMutable().assign(unrolled.getResults());
    loop->setAttr(tt::kNumStages, rewriter.getI32IntegerAttr(1)); // few iterations: nothing to pipeline
  }
  (void)unrolled.promoteIfSingleIteration(rewriter);
}

namespace {
struct UnrollLoops : ttg::impl::UnrollLoopsBase<UnrollLoops> {
  using UnrollLoopsBase::UnrollLoopsBase;

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { // from the innermost loop outwards
      if (loop->hasAttr(tt::kLoopUnrollFactor))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      auto asked = dyn_cast<IntegerAttr>(loop->removeAttr(tt::kLoopUnrollFactor));
      if (!asked || asked.getInt() < 2)
        continue;
      const unsigned factor = asked.getInt();
      if (const std::optional<APInt> step = stepOfAll(loop, factor)) {
        unroll(loop, *step, factor, rewriter);
        ++numUnrolled;
      } else {
        tt::report(loop.getLoc(), diag::LoopNotUnrolled, factor,
                   loop.getConstantStep() ? "so many steps are beyond the index's type" : "its step is not a constant");
      }
    }
  }
};
} // namespace
