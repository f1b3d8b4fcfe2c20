// Postpones dots of a loop, so that the products of several iterations are added to the accumulators at once.
// SPDX-License-Identifier: MIT
//
// With matrix tiles a dot takes about as long to load and store its accumulators as to multiply 32 elements along K.
// Its operands must still be there some iterations later: in a kept tile of their own, or in memory, which loops with
// kept operands do not change. Whether they are is known at run time; where they are not, the dot is done with those
// that wait.
// docs/why/cpu-dot.md
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The size of the strips of right operands that are multiplied one after another for each strip of rows: two thirds of
/// a first-level cache of 48 KB, in which they stay.
static constexpr int64_t mostStripBytes = 1 << 15;
static constexpr int64_t stripColumns = 64;
/// Iterations after which the accumulators' share of the time is small.
static constexpr int64_t mostIterations = 4;

/// Whether only the dot uses the carried tile that it accumulates in: what it adds may come later.
static bool ownsAccumulator(const LoopPlan &plan, tt::DotOp dot) {
  const std::optional<BufferId> carried = carriedAccumulator(plan, dot);
  auto before = dyn_cast<BlockArgument>(dot.getC());
  return carried && before && before.getOwner() == dot->getBlock() && before.hasOneUse() &&
         plan.bufferOf.lookup(before) == *carried && !plan.buffers[*carried].isDouble && isOnlyCarried(dot);
}

/// Whether a nest of the body makes the operand only where the dot cannot read memory.
static bool isInPlace(const Sequence &body, const TileDot::Operand &operand) {
  return !operand.value && llvm::any_of(body.steps, [&](const Step &step) {
    return step.kind == StepKind::Nest && step.nest->inPlace &&
           step.nest->roots.front().buffers.front() == operand.buffer;
  });
}

static bool canPostpone(const PlanContext &context, const Sequence &body, const Step &step) {
  const TileDot &dot = *step.dot;
  auto op = cast<tt::DotOp>(step.op);
  if (!dot.form.usesTiles || !dot.packed || tt::shapeOf(op.getType()).size() != 2 || !ownsAccumulator(context.plan, op))
    return false;
  Operation *loop = op->getParentOp();
  return context.plan.isKept(*dot.packed, loop) && (context.plan.isKept(dot.a.buffer, loop) || isInPlace(body, dot.a));
}

void cpu::postponeDots(PlanContext &context, Sequence &sequence) {
  for (Step &step : sequence.steps) {
    for (Sequence &region : step.regions)
      postponeDots(context, region);
    if (step.kind != StepKind::Dot || !canPostpone(context, sequence, step))
      continue;
    auto op = cast<tt::DotOp>(step.op);
    const int64_t depth = tt::shapeOf(op.getB().getType())[0];
    const int64_t stripBytes = depth * stripColumns * storageBytes(tt::elementOf(op.getB().getType()));
    step.dot->iterations = std::clamp<int64_t>(mostStripBytes / stripBytes, 1, mostIterations);
  }
}
