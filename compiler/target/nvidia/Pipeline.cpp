// Lists the passes that the NVIDIA target runs before it emits LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/Pipeline.h"

#include "artifact/TargetInfo.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

static void addDescriptorPasses(OpPassManager &passes, const support::TargetSpec &target,
                                const support::Options &options) {
  std::string reason;
  const std::optional<Arch> arch = findArch(target.arch, reason);
  if (!arch || !arch->makesTensorMaps)
    return;
  const bool wherePossible = hasFeature(target, kTensorCopies), hostTensorMaps = hasFeature(target, kHostMaps);
  const bool pays = arch->hasWgmma; // measured there
  const bool mayMake = (pays || wherePossible) && (!options.ptxVersion || options.ptxVersion >= kTensorMapPtx);
  if (mayMake || hostTensorMaps)
    passes.addPass(createLowerDescriptorsToTma({wherePossible, hostTensorMaps}));
}

void nvidia::buildTtirPipeline(OpPassManager &passes, const support::TargetSpec &target,
                               const support::Options &options) {
  tt::buildOptimisePipeline(passes, options.enableFpFusion,
                            [&](OpPassManager &more) { addDescriptorPasses(more, target, options); });
}

void nvidia::buildTtgPipeline(OpPassManager &passes, const TtgPipelineOptions &gpu) {
  // All passes below see the tiles of one CTA.
  if (gpu.numCtas > 1)
    passes.addPass(createSplitOverCluster({gpu.numCtas, gpu.maxSharedBytes, gpu.splitsWherePossible}));
  // Loops are unrolled and flattened while tiles have no layouts yet.
  OpPassManager &ofLoops = passes.nest<tt::FuncOp>();
  ofLoops.addPass(ttg::createFlattenLoops());
  ofLoops.addPass(ttg::createUnrollLoops());
  // The input is canonical; ops that the passes below add need CSE, not canonicalisation.
  passes.addPass(ttg::createAssignLayouts({gpu.numWarps, gpu.threadsPerWarp, gpu.numCtas, gpu.target, gpu.hasWarpMma,
                                           gpu.hasWarpGroupMma, gpu.maxSharedBytes, gpu.hasVectorAtomics}));
  OpPassManager &ofFunctions = passes.nest<tt::FuncOp>();
  ofFunctions.addPass(ttg::createAccumulateInThreads());
  if (gpu.hasWarpGroupMma)
    ofFunctions.addPass(createFormWarpGroupDots());
  ofFunctions.addPass(ttg::createShareOperands({gpu.maxSharedBytes}));
  if (gpu.specializesWarps)
    passes.addPass(createSpecializeWarps({gpu.dotStages, gpu.maxSharedBytes, gpu.ownLauncher}));
  OpPassManager &ofFunctionsAfter = passes.nest<tt::FuncOp>();
  if (gpu.hasWarpGroupMma)
    ofFunctionsAfter.addPass(createKeepOperands());
  ofFunctionsAfter.addPass(ttg::createPipelineLoops({gpu.dotStages, gpu.maxSharedBytes, gpu.hasAsyncCopy}));
  if (gpu.hasWarpGroupMma)
    ofFunctionsAfter.addPass(createDeferDotWaits());
  if (gpu.prefetchRegisters)
    ofFunctionsAfter.addPass(ttg::createPrefetchLoads({gpu.defaultStages, gpu.prefetchRegisters, gpu.askedStages}));
  passes.addPass(createLowerTileAccesses());
  // Merges tiles rematerialised for several users, and addresses computed for two iterations.
  passes.addPass(createCSEPass());
  // Nothing below analyses scalars.
  passes.addNestedPass<tt::FuncOp>(ttg::createBranchDivisions());
  passes.addPass(ttg::createSplitConversions({gpu.maxSharedBytes}));
  passes.addPass(ttg::createAllocateShared());
}

void nvidia::buildUserTtgPipeline(OpPassManager &passes, bool takesTensorMaps, const support::Options &options) {
  passes.addPass(createLowerDescriptorCopies({takesTensorMaps}));
  if (options.ownLauncher)
    passes.addPass(createMoveMapsToLauncher());
  passes.addPass(createLowerTileAccesses());
  passes.addPass(createAllocateWarps());
}

void nvidia::buildTtgirPipeline(OpPassManager &passes, const Arch &arch, const support::Options &options) {
  TtgPipelineOptions shape;
  shape.numWarps = options.numWarps;
  shape.numCtas = options.numCtas;
  shape.target = "cuda:" + std::to_string(arch.capability);
  shape.askedStages = options.numStages == support::Options().numStages ? 0 : options.numStages;
  shape.maxSharedBytes = arch.maxSharedBytes;
  shape.hasWarpMma = arch.hasWarpMma;
  shape.hasWarpGroupMma = arch.hasWgmma;
  shape.specializesWarps = arch.hasWgmma && options.numCtas == 1 && !options.maxRegisters;
  shape.ownLauncher = options.ownLauncher;
  shape.hasAsyncCopy = arch.hasAsyncCopy;
  shape.hasVectorAtomics = arch.hasVectorAtomics;
  shape.dotStages = options.numStages;
  passes.addPass(tt::createDecomposeScaledDots({/*halves=*/arch.hasWarpMma}));
  passes.addPass(tt::createPadTiles());
  if (options.ownLauncher) {
    passes.addPass(createMoveMapsToLauncher());
    if (arch.hasWgmma)
      passes.addPass(createPromoteLoads({options.numWarps, arch.maxSharedBytes}));
  }
  buildTtgPipeline(passes, shape);
}

namespace {
/// Options with the names and defaults of `nereid compile`.
struct CudaPipeline : PassPipelineOptions<CudaPipeline> {
  Option<std::string> arch{*this, "arch", llvm::cl::desc("compute capability, as in cuda:90"), llvm::cl::init("90")};
  Option<std::string> features{*this, "features", llvm::cl::desc("+tma or +maps"), llvm::cl::init("")};
  Option<unsigned> numWarps{*this, "num-warps", llvm::cl::desc("warps of a CTA"),
                            llvm::cl::init(support::Options().numWarps)};
  Option<unsigned> numStages{*this, "num-stages", llvm::cl::desc("stages of loops with a dot"),
                             llvm::cl::init(support::Options().numStages)};
  Option<unsigned> numCtas{*this, "num-ctas", llvm::cl::desc("CTAs of a cluster"), llvm::cl::init(1)};
  Option<bool> ownLauncher{*this, "own-launcher", llvm::cl::desc("launches may pass tensor maps"),
                           llvm::cl::init(false)};
  Option<bool> fusesFloats{*this, "fp-fusion", llvm::cl::desc("a multiplication and an addition may be rounded once"),
                           llvm::cl::init(true)};

  support::TargetSpec target() const {
    support::TargetSpec spec;
    spec.backend = artifact::kCuda.name;
    spec.arch = arch;
    spec.features = features;
    return spec;
  }
  support::Options options() const {
    support::Options options;
    options.numWarps = numWarps;
    options.numStages = numStages;
    options.numCtas = numCtas;
    options.enableFpFusion = fusesFloats;
    options.ownLauncher = ownLauncher;
    return options;
  }
};
} // namespace

/// Exits nereid-opt with a message where the name is wrong.
static Arch archOf(const CudaPipeline &pipeline) {
  std::string reason;
  const std::optional<Arch> arch = findArch(pipeline.arch, reason);
  const StringRef features = pipeline.features;
  if (arch && !features.empty() && features != kTensorCopies && features != kHostMaps)
    reason =
        "features are `" + features.str() + "`; they may be `" + kTensorCopies.str() + "` or `" + kHostMaps.str() + "`";
  if (!reason.empty())
    llvm::reportFatalUsageError(StringRef(reason));
  return *arch;
}

void nvidia::registerPipelines() {
  ttg::registerTtgPasses();
  registerNvidiaPasses();
  PassPipelineRegistration<CudaPipeline>("cuda-ttir", "from the front end's tt to ttir",
                                         [](OpPassManager &passes, const CudaPipeline &pipeline) {
                                           (void)archOf(pipeline);
                                           buildTtirPipeline(passes, pipeline.target(), pipeline.options());
                                         });
  PassPipelineRegistration<CudaPipeline>("cuda-ttgir", "from ttir to ttgir",
                                         [](OpPassManager &passes, const CudaPipeline &pipeline) {
                                           buildTtgirPipeline(passes, archOf(pipeline), pipeline.options());
                                         });
}
