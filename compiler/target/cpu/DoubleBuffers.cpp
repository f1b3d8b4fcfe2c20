// Decides which carried tiles need a second buffer: those whose old value is read after or beside their update.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Expressions.h"
#include "compiler/target/cpu/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The step of a loop's body that assigns the buffer's next value.
static std::optional<unsigned> assigningStep(const Sequence &body, BufferId buffer) {
  for (auto [index, step] : llvm::enumerate(body.steps))
    if (step.kind == StepKind::Nest)
      for (const Root &root : step.nest->roots)
        if (root.kind == RootKind::Assign && root.buffers.front() == buffer)
          return index;
  return std::nullopt;
}

/// Every read of the buffer must come before its update, or in the update's nest at the element's own index.
static bool allowsUpdateInPlace(PlanContext &context, const Sequence &body, BufferId buffer, unsigned update) {
  bool isInPlace = true;
  for (unsigned index = update; index < body.steps.size(); ++index)
    forEachNest(body.steps[index], [&](Nest &nest) {
      ExpressionWalk walk(context.facts, [&](Value value, const IndexMap &map) {
        auto found = context.plan.bufferOf.find(value);
        if (found == context.plan.bufferOf.end() || !isRead(context.plan, nest, value))
          return true;
        if (found->second != buffer || map.empty())
          return false;
        const bool isOwn = index == update && isIdentity(tt::shapeOf(value.getType()), map, nest);
        isInPlace &= isOwn;
        if (isOwn && !llvm::is_contained(nest.early, value))
          nest.early.push_back(value);
        return false;
      });
      for (const Root &root : nest.roots)
        walk.root(root);
    });
  return isInPlace;
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
  }
}
