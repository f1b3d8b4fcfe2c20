// Gives a carried tile a second buffer where its old value is read during or after its update.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The first step of a loop's body that writes the buffer's next value.
static std::optional<unsigned> assigningStep(const Sequence &body, BufferId buffer) {
  for (auto [index, step] : llvm::enumerate(body.steps)) {
    if (step.dot && step.dot->d == buffer)
      return index;
    if (step.kind == StepKind::Nest)
      for (const Root &root : step.nest->roots)
        if (root.kind == RootKind::Assign && root.buffers.front() == buffer)
          return index;
  }
  return std::nullopt;
}

/// Whether every read of the buffer comes before its update, or is in the update's nest at the element's own index.
static bool allowsUpdateInPlace(PlanContext &context, const Sequence &body, BufferId buffer, unsigned update) {
  bool isInPlace = true;
  for (unsigned index = update; index < body.steps.size(); ++index)
    forEachNest(body.steps[index], [&](Nest &nest) {
      ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
        auto found = context.plan.bufferOf.find(value);
        if (found == context.plan.bufferOf.end() || !isRead(context.plan, nest, value))
          return true;
        if (found->second != buffer || map.empty() || context.plan.updates.contains(value))
          return false;
        const bool isOwn = index == update && isIdentity(tt::shapeOf(value.getType()), map, nest);
        isInPlace &= isOwn;
        if (isOwn && !llvm::is_contained(nest.hoistedReads, value))
          nest.hoistedReads.push_back(value);
        return false;
      });
      walk.nest(nest);
    });
  for (unsigned index = update; index < body.steps.size(); ++index)
    forEachStep(body.steps[index], [&](const Step &step) {
      if (step.dot)
        for (const TileDot::Operand &operand : {step.dot->a, step.dot->b})
          isInPlace &= !operand.value || operand.buffer != buffer || context.plan.updates.contains(operand.value);
    });
  return isInPlace;
}

/// A dot that accumulates into a carried tile in place needs no copy of it.
static void dropIdleAssigns(const LoopPlan &plan, Sequence &body) {
  for (Step &step : body.steps)
    if (step.kind == StepKind::Nest)
      llvm::erase_if(step.nest->roots, [&](const Root &root) {
        return root.kind == RootKind::Assign && isa<tt::DotOp>(root.op) && plan.bufferOf.contains(root.value) &&
               plan.bufferOf.lookup(root.value) == root.buffers.front() && !plan.buffers[root.buffers.front()].isDouble;
      });
  llvm::erase_if(body.steps, [](const Step &step) { return step.kind == StepKind::Nest && step.nest->roots.empty(); });
}

void cpu::doubleBuffers(PlanContext &context, Sequence &sequence) {
  for (Step &step : sequence.steps) {
    for (Sequence &region : step.regions)
      doubleBuffers(context, region);
    if (!isa_and_nonnull<scf::ForOp>(step.op))
      continue;
    for (std::optional<BufferId> buffer : context.plan.carried.lookup(step.op)) {
      if (!buffer)
        continue;
      const Sequence &body = step.regions.front();
      auto update = assigningStep(body, *buffer);
      if (update && !allowsUpdateInPlace(context, body, *buffer, *update))
        context.plan.buffers[*buffer].isDouble = true;
    }
    dropIdleAssigns(context.plan, step.regions.front());
  }
}
