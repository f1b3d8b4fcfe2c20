// Lists the passes that a Gluon kernel goes through before its target's lowering.
// SPDX-License-Identifier: MIT
#include "compiler/passes/gluon/Pipeline.h"

#include "compiler/passes/gluon/Passes.h"
#include "compiler/passes/tt/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nereid;

void gluon::buildPipeline(OpPassManager &passes) {
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createSymbolDCEPass());
  // Before equal tiles of open layouts are merged: they may get different ones.
  passes.addPass(createResolveLayouts());
  passes.addPass(tt::createCanonicalize());
  passes.addPass(tt::createDropHints());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
}

void gluon::registerPipelines() {
  registerGluonPasses();
  PassPipelineRegistration<>("gluon-optimise", "what every target runs first on a Gluon kernel",
                             [](OpPassManager &passes) { buildPipeline(passes); });
}
