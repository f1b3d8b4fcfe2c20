// Lists the passes that bring sema's output into the form that targets expect.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/Pipeline.h"

#include "compiler/passes/tt/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void nereid::tt::buildOptimisePipeline(OpPassManager &passes, bool fusesFloats,
                                       llvm::function_ref<void(OpPassManager &)> lowerDescriptors) {
  // Needed for imported IR only.
  passes.addPass(createLiftControlFlow());
  passes.addPass(createExpandBlockPointers());
  // Only functions marked noinline stay calls. The inliner's own clean-up is
  // switched off: one canonicalisation after it is enough.
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createSymbolDCEPass());
  if (lowerDescriptors)
    lowerDescriptors(passes);
  passes.addPass(createRewriteDescriptors());
  passes.addPass(createCanonicalize());
  passes.addPass(createDropHints());
  passes.addPass(createFoldIntoDot({fusesFloats}));
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  // Merges what was equal in several loops and is now in one block.
  passes.addPass(createCSEPass());
}

void nereid::tt::registerPipelines() {
  registerTtPasses();
  PassPipelineRegistration<>("tt-optimise", "what every target runs first",
                             [](OpPassManager &passes) { buildOptimisePipeline(passes, true); });
}
