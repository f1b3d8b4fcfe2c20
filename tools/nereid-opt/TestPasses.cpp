// Reports the results of analyses as remarks at the ops.
// SPDX-License-Identifier: MIT
#include "tools/nereid-opt/TestPasses.h"

#include "compiler/analysis/Barriers.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace nereid;

namespace {
template <typename Concrete> struct TestPass : PassWrapper<Concrete, OperationPass<ModuleOp>> {
  StringRef getArgument() const final { return Concrete::name; }
  StringRef getDescription() const final { return "reports the results of an analysis"; }
};

struct PrintSharedPlan : TestPass<PrintSharedPlan> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintSharedPlan)
  static constexpr StringLiteral name = "test-print-shared-plan";

  void runOnOperation() final {
    const analysis::SharedMemoryPlan memory = analysis::planSharedMemory(getOperation());
    getOperation()->walk([&](tt::FuncOp function) {
      const analysis::BarrierPlan barriers = analysis::planBarriers(function, memory);
      function.emitRemark() << "shared memory of " << memory.bytes << " bytes";
      function.walk([&](Operation *op) {
        const analysis::SharedRange range = memory.rangeOf(op);
        const bool waits = barriers.needsBarrierBefore.contains(op);
        if (range.begin != range.end)
          op->emitRemark() << "bytes [" << range.begin << ", " << range.end << ")" << (waits ? " after a barrier" : "");
        else if (waits)
          op->emitRemark() << "after a barrier";
      });
    });
  }
};
} // namespace

void nereid::registerTestPasses() { PassRegistration<PrintSharedPlan>(); }
