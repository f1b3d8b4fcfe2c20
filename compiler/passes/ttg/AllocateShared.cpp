// Writes the shared-memory plan into the module: its size, and the offset of each op's buffer.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/SharedMemory.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;

namespace {
struct AllocateShared : ttg::impl::AllocateSharedBase<AllocateShared> {
  using AllocateSharedBase::AllocateSharedBase;

  void runOnOperation() final {
    const analysis::SharedMemoryPlan plan = analysis::planSharedMemory(getOperation());
    Builder builder(&getContext());
    for (auto [op, offset] : plan.offsetOf)
      op->setAttr("allocation.offset", builder.getI32IntegerAttr(offset));
    getOperation()->setAttr(ttg::kShared, builder.getI32IntegerAttr(plan.bytes));
  }
};
} // namespace
