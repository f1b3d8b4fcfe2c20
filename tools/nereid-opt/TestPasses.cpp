// Reports the results of analyses as remarks at the ops.
// SPDX-License-Identifier: MIT
#include "tools/nereid-opt/TestPasses.h"

#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/MemoryAccess.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace nereid;

namespace {
template <typename Concrete> struct TestPass : PassWrapper<Concrete, OperationPass<ModuleOp>> {
  StringRef getArgument() const final { return Concrete::name; }
  StringRef getDescription() const final { return "reports the results of an analysis"; }
};

std::string text(const analysis::AxisInfo &info) {
  std::string result;
  llvm::raw_string_ostream os(result);
  auto list = [&](StringRef name, int64_t analysis::AxisInfo::Dim::*member) {
    os << name << " [";
    llvm::interleaveComma(info.dims, os, [&](const analysis::AxisInfo::Dim &dim) { os << dim.*member; });
    os << "]";
  };
  list("contiguity", &analysis::AxisInfo::Dim::contiguity);
  list(", divisibility", &analysis::AxisInfo::Dim::divisibility);
  list(", constancy", &analysis::AxisInfo::Dim::constancy);
  if (info.constant())
    os << ", constant " << *info.constant();
  return result;
}

struct PrintAxisInfo : TestPass<PrintAxisInfo> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAxisInfo)
  static constexpr StringLiteral name = "test-print-axis-info";

  void runOnOperation() final {
    const analysis::AxisInfoAnalysis axisInfo(getOperation());
    getOperation()->walk([&](Operation *op) {
      for (Value result : op->getResults())
        op->emitRemark() << text(axisInfo.of(result));
    });
  }
};

struct PrintAccessWidths : TestPass<PrintAccessWidths> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAccessWidths)
  static constexpr StringLiteral name = "test-print-access-widths";

  void runOnOperation() final {
    const analysis::AxisInfoAnalysis axisInfo(getOperation());
    getOperation()->walk([&](Operation *op) {
      if (auto access = analysis::memoryAccessOf(op))
        op->emitRemark() << "vectors of " << analysis::vectorElems(*access, axisInfo) << " x " << access->elementBits
                         << " bits";
    });
  }
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

void nereid::registerTestPasses() {
  PassRegistration<PrintAxisInfo>();
  PassRegistration<PrintAccessWidths>();
  PassRegistration<PrintSharedPlan>();
}
