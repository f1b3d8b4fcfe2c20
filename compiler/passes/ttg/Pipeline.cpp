// Lists the passes that turn `tt` into the `ttg` form that is lowered to GPU code.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/Pipeline.h"

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nereid;

void ttg::buildPipeline(OpPassManager &passes, const GpuPipelineOptions &gpu) {
  // Loops are unrolled and flattened while tiles have no layouts yet.
  OpPassManager &ofLoops = passes.nest<tt::FuncOp>();
  ofLoops.addPass(createFlattenLoops());
  ofLoops.addPass(createUnrollLoops());
  // The input is canonical; ops that the passes below add need CSE, not canonicalisation.
  passes.addPass(createAssignLayouts({gpu.numWarps, gpu.threadsPerWarp, gpu.numCtas, gpu.target, gpu.hasWarpMma,
                                      gpu.hasWarpGroupMma, gpu.maxSharedBytes, gpu.hasVectorAtomics}));
  OpPassManager &ofFunctions = passes.nest<tt::FuncOp>();
  ofFunctions.addPass(createAccumulateInThreads());
  if (gpu.hasWarpGroupMma)
    ofFunctions.addPass(createFormWarpGroupDots());
  ofFunctions.addPass(createShareOperands({gpu.maxSharedBytes}));
  ofFunctions.addPass(createPipelineLoops({gpu.dotStages, gpu.maxSharedBytes, gpu.hasAsyncCopy}));
  if (gpu.prefetchRegisters)
    ofFunctions.addPass(createPrefetchLoads({gpu.defaultStages, gpu.prefetchRegisters, gpu.askedStages}));
  passes.addPass(createLowerTileAccesses());
  // Merges tiles rematerialised for several users, and addresses computed for two iterations.
  passes.addPass(createCSEPass());
  passes.addPass(createSplitConversions({gpu.maxSharedBytes}));
  passes.addPass(createAllocateShared());
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<unsigned> numWarps{*this, "num-warps", llvm::cl::desc("warps of a CTA"), llvm::cl::init(4)};
  Option<unsigned> threadsPerWarp{*this, "threads-per-warp", llvm::cl::desc("threads of a warp"), llvm::cl::init(32)};
  Option<std::string> target{*this, "target", llvm::cl::desc("target of the generated code"),
                             llvm::cl::init("cuda:90")};
  Option<unsigned> defaultStages{*this, "num-stages", llvm::cl::desc("stages of loops without a dot that set none"),
                                 llvm::cl::init(1)};
  Option<bool> hasWarpGroupMma{*this, "warp-group-mma", llvm::cl::desc("groups of four warps have matrix instructions"),
                               llvm::cl::init(false)};
  Option<unsigned> dotStages{*this, "dot-stages", llvm::cl::desc("stages of loops with a dot"), llvm::cl::init(3)};
};
} // namespace

void ttg::registerPipelines() {
  registerTtgPasses();
  PassPipelineRegistration<PipelineOptions>("ttg-default", "from tt to the ttg that is lowered",
                                            [](OpPassManager &passes, const PipelineOptions &options) {
                                              GpuPipelineOptions gpu;
                                              gpu.numWarps = options.numWarps;
                                              gpu.threadsPerWarp = options.threadsPerWarp;
                                              gpu.target = options.target;
                                              gpu.defaultStages = options.defaultStages;
                                              gpu.hasWarpGroupMma = options.hasWarpGroupMma;
                                              gpu.dotStages = options.dotStages;
                                              buildPipeline(passes, gpu);
                                            });
}
