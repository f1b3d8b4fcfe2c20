// Lists the passes that turn `tt` into the `ttg` that is lowered to a GPU's code.
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

void ttg::buildPipeline(OpPassManager &passes, const GpuShape &shape) {
  // Loops get the shape that they are asked to have while tiles have no layouts yet.
  OpPassManager &ofLoops = passes.nest<tt::FuncOp>();
  ofLoops.addPass(createFlattenLoops());
  ofLoops.addPass(createUnrollLoops());
  // The input is canonical; what the passes below add needs merging, not rewriting.
  passes.addPass(createAssignLayouts({shape.numWarps, shape.threadsPerWarp, shape.numCtas, shape.target, shape.hasWarpMma,
                                     shape.hasWarpGroupMma, shape.maxSharedBytes, shape.hasVectorAtomics}));
  OpPassManager &ofFunctions = passes.nest<tt::FuncOp>();
  ofFunctions.addPass(createAccumulateInThreads());
  if (shape.hasWarpGroupMma)
    ofFunctions.addPass(createFormWarpGroupDots());
  ofFunctions.addPass(createShareOperands({shape.maxSharedBytes}));
  ofFunctions.addPass(createPipelineLoops({shape.productStages, shape.maxSharedBytes, shape.hasAsyncCopy}));
  if (shape.prefetchRegisters)
    ofFunctions.addPass(
        createRotateLoads({shape.defaultStages, shape.prefetchRegisters, shape.askedStages}));
  passes.addPass(createLowerTileAccesses());
  // Tiles made again for several users, and addresses computed for two iterations.
  passes.addPass(createCSEPass());
  passes.addPass(createSplitConversions({shape.maxSharedBytes}));
  passes.addPass(createAllocateShared());
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<unsigned> numWarps{*this, "num-warps", llvm::cl::desc("warps of a block"), llvm::cl::init(4)};
  Option<unsigned> threadsPerWarp{*this, "threads-per-warp", llvm::cl::desc("threads of a warp"), llvm::cl::init(32)};
  Option<std::string> target{*this, "target", llvm::cl::desc("what code is made for"), llvm::cl::init("cuda:90")};
  Option<unsigned> defaultStages{*this, "num-stages", llvm::cl::desc("stages of loops that do not say how many"),
                                 llvm::cl::init(1)};
  Option<bool> hasWarpGroupMma{*this, "warp-group-mma", llvm::cl::desc("groups of four warps have matrix instructions"),
                               llvm::cl::init(false)};
  Option<unsigned> productStages{*this, "product-stages", llvm::cl::desc("stages of loops with a product"),
                                 llvm::cl::init(3)};
};
} // namespace

void ttg::registerPipelines() {
  registerTtgPasses();
  PassPipelineRegistration<PipelineOptions>(
      "ttg-default", "from tt to the ttg that is lowered", [](OpPassManager &passes, const PipelineOptions &options) {
        GpuShape shape;
        shape.numWarps = options.numWarps;
        shape.threadsPerWarp = options.threadsPerWarp;
        shape.target = options.target;
        shape.defaultStages = options.defaultStages;
        shape.hasWarpGroupMma = options.hasWarpGroupMma;
        shape.productStages = options.productStages;
        buildPipeline(passes, shape);
      });
}
