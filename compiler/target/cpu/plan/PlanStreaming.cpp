// Decides whether stores may bypass the caches: a line that is written whole and not read again soon saves a read so.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

void cpu::planStreaming(PlanContext &context, tt::FuncOp kernel) {
  if (context.machine.cacheBytes == 0)
    return;
  // Atomic accesses do not order non-temporal stores.
  const WalkResult result = kernel.walk([](tt::MemoryAccessOpInterface access) {
    return access.isAtomic() ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return;
  for (const Step &step : context.plan.body.steps)
    if (step.kind == StepKind::Nest)
      for (const Root &root : step.nest->roots)
        if (auto store = dyn_cast_or_null<tt::StoreOp>(root.op)) {
          auto tile = cast<RankedTensorType>(store.getValue().getType());
          context.plan.streamedBytes += tile.getNumElements() * storageBytes(tile.getElementType());
        }
}
