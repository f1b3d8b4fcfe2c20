// Makes the first iteration of a loop write its carried tiles instead of reading constants that were written before it.
// SPDX-License-Identifier: MIT
//
// `acc = zeros(...)` before a loop that adds to `acc` costs a pass over memory to write the zeros and one to read them.
// Where all reads of the carried tile are in the nest that updates it, that nest is emitted twice: for the first
// iteration, in which the tile's elements are the constant, and for the others. The constants are written only where
// the loop has no iteration at all.
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Whether the nest's results go to memory alone: two versions of it then need no phis.
static bool givesNoScalar(const Nest &nest) {
  return llvm::all_of(nest.roots,
                      [](const Root &root) { return root.kind != RootKind::Op || isa<tt::StoreOp>(root.op); });
}

static bool assigns(const Nest &nest, BufferId buffer) {
  return llvm::any_of(
      nest.roots, [&](const Root &root) { return root.kind == RootKind::Assign && root.buffers.front() == buffer; });
}

static bool readsTile(PlanContext &context, const Nest &nest, Value tile) {
  bool isFound = false;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    isFound |= value == tile;
    return !isFound && !(context.plan.bufferOf.contains(value) && isRead(context.plan, nest, value));
  });
  walk.nest(nest);
  return isFound;
}

/// The nest of the loop's body that updates the tile, if no other nest reads it.
static Nest *onlyReader(PlanContext &context, const Sequence &body, BufferId buffer, Value tile) {
  Nest *update = nullptr;
  for (const Step &step : body.steps)
    if (step.kind == StepKind::Nest && assigns(*step.nest, buffer))
      update = step.nest.get();
  if (!update || !givesNoScalar(*update))
    return nullptr;
  bool isOnly = true;
  for (const Step &step : body.steps)
    forEachStep(step, [&](const Step &inner) {
      isOnly &= !inner.nest || inner.nest.get() == update || !readsTile(context, *inner.nest, tile);
      isOnly &= !inner.dot || (inner.dot->a.value != tile && inner.dot->b.value != tile);
    });
  return isOnly ? update : nullptr;
}

/// Removes the root that writes a carried tile's initial value from the steps before the loop.
static bool takeInit(Sequence &sequence, Operation *loop, BufferId buffer) {
  for (Step &step : sequence.steps) {
    if (step.kind != StepKind::Nest)
      continue;
    auto found = llvm::find_if(step.nest->roots, [&](const Root &root) {
      return root.kind == RootKind::Assign && root.op == loop && root.buffers.front() == buffer;
    });
    if (found == step.nest->roots.end())
      continue;
    step.nest->roots.erase(found);
    return true;
  }
  return false;
}

static void visitLoop(PlanContext &context, Sequence &sequence, Step &step) {
  auto loop = cast<scf::ForOp>(step.op);
  Sequence whenEmpty;
  for (auto [index, buffer] : llvm::enumerate(context.plan.carried.lookup(loop))) {
    Value init = loop.getInitArgs()[index], tile = loop.getRegionIterArg(index);
    DenseElementsAttr constant;
    if (!buffer || context.plan.buffers[*buffer].isDouble || !matchPattern(init, m_Constant(&constant)) ||
        !constant.isSplat())
      continue;
    Nest *update = onlyReader(context, step.regions.front(), *buffer, tile);
    if (!update || !takeInit(sequence, loop, *buffer))
      continue;
    update->peeledLoop = loop;
    update->initial.push_back({tile, constant});
    Step write;
    write.kind = StepKind::Nest;
    write.nest = context.newNest(tt::shapeOf(init.getType()));
    write.nest->roots.push_back({RootKind::Assign, loop, init, {*buffer}});
    whenEmpty.steps.push_back(std::move(write));
  }
  if (!whenEmpty.steps.empty())
    step.regions.push_back(std::move(whenEmpty));
}

void cpu::peelFirstIterations(PlanContext &context, Sequence &sequence) {
  for (Step &step : sequence.steps) {
    for (Sequence &region : step.regions)
      peelFirstIterations(context, region);
    if (step.kind == StepKind::Control && isa<scf::ForOp>(step.op))
      visitLoop(context, sequence, step);
  }
  llvm::erase_if(sequence.steps,
                 [](const Step &step) { return step.kind == StepKind::Nest && step.nest->roots.empty(); });
}
