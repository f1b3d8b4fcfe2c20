// Inlines all calls, including those of noinline functions.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace nereid::tt {
#define GEN_PASS_DEF_INLINECALLS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;

namespace {
struct InlineCalls : nereid::tt::impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() final {
    auto isCall = [](tt::CallOp) { return WalkResult::interrupt(); };
    if (!getOperation().walk(isCall).wasInterrupted())
      return;
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(tt::createDropNoinline());
    passes.addPass(createInlinerPass());
    passes.addPass(tt::createCanonicalize());
    passes.addPass(createCSEPass());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
