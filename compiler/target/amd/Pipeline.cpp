// Lists the passes that the AMD target runs before it emits LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/Pipeline.h"

#include "artifact/Sanitizers.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/target/amd/passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;

void amd::buildTtirPipeline(OpPassManager &passes, const support::Options &options) {
  tt::buildOptimisePipeline(passes, options.enableFpFusion, [](OpPassManager &) {});
}

/// Registers of a thread that prefetched tiles may take.
static constexpr unsigned kPrefetchRegisters = 32;

/// A launch that looks for accesses outside of their tensor does not rely on there being none.
static bool checksBounds(const support::Options &options) { return options.sanitize & artifact::Bounds; }

void amd::buildTtgirPipeline(OpPassManager &passes, const Arch &arch, const support::Options &options) {
  const bool hasMatrices = arch.matrixUnit != MatrixUnit::None;
  const unsigned askedStages = options.numStages == support::Options().numStages ? 0 : options.numStages;
  passes.addPass(tt::createDecomposeScaledDots({/*halves=*/hasMatrices, arch.hasScaledMatrix}));
  passes.addPass(tt::createPadTiles());
  // Loops are unrolled and flattened while tiles have no layouts yet.
  OpPassManager &ofLoops = passes.nest<tt::FuncOp>();
  ofLoops.addPass(ttg::createFlattenLoops());
  ofLoops.addPass(ttg::createUnrollLoops());
  // The input is canonical; ops that the passes below add need CSE, not canonicalisation.
  passes.addPass(ttg::createAssignLayouts({options.numWarps, arch.waveSize, /*numCtas=*/1,
                                           std::string("hip:") + arch.name, hasMatrices, /*hasWarpGroupMma=*/false,
                                           arch.maxSharedBytes, /*hasVectorAtomics=*/false}));
  OpPassManager &ofFunctions = passes.nest<tt::FuncOp>();
  ofFunctions.addPass(ttg::createAccumulateInThreads());
  ofFunctions.addPass(ttg::createShareOperands({arch.maxSharedBytes, arch.numRegisters / 8, /*savesRegisters=*/true}));
  if (options.useBufferOps)
    ofFunctions.addPass(createBoundOffsets({/*trustsStorage=*/!checksBounds(options)}));
  const bool mayCopy = options.useBufferOps && options.numStages > 1 && arch.ldsLoadBytes &&
                       options.useAsyncCopy.value_or(arch.prefersLdsLoads);
  if (mayCopy)
    ofFunctions.addPass(createOrderCopies());
  // The rest is for a step's operands and for addresses.
  const unsigned maxRegisters = arch.numRegisters / 16 * 11;
  ofFunctions.addPass(ttg::createPipelineLoops({options.numStages, arch.maxSharedBytes, mayCopy, maxRegisters,
                                                /*savesRegisters=*/true}));
  ofFunctions.addPass(ttg::createPrefetchLoads({/*defaultStages=*/1, kPrefetchRegisters, askedStages}));
  // Merges tiles rematerialised for several users, and addresses computed for two iterations.
  passes.addPass(createCSEPass());
  // Nothing below analyses scalars.
  passes.addNestedPass<tt::FuncOp>(ttg::createBranchDivisions());
  passes.addPass(ttg::createSplitConversions({arch.maxSharedBytes}));
  passes.addPass(ttg::createAllocateShared());
}

namespace {
/// Options with the names and defaults of `nereid compile`.
struct HipPipeline : PassPipelineOptions<HipPipeline> {
  Option<std::string> arch{*this, "arch", llvm::cl::desc("architecture, as in hip:gfx942"), llvm::cl::init("gfx942")};
  Option<unsigned> numWarps{*this, "num-warps", llvm::cl::desc("waves of a workgroup"),
                            llvm::cl::init(support::Options().numWarps)};
  Option<unsigned> numStages{*this, "num-stages", llvm::cl::desc("stages of loops with a dot"),
                             llvm::cl::init(support::Options().numStages)};
  Option<bool> fusesFloats{*this, "fp-fusion", llvm::cl::desc("a multiplication and an addition may be rounded once"),
                           llvm::cl::init(true)};

  support::Options options() const {
    support::Options options;
    options.numWarps = numWarps;
    options.numStages = numStages;
    options.enableFpFusion = fusesFloats;
    return options;
  }
};
} // namespace

/// Exits nereid-opt with a message where the name is wrong.
static Arch archNamed(const HipPipeline &pipeline) {
  std::string reason;
  const std::optional<Arch> arch = findArch(pipeline.arch, reason);
  if (!arch)
    llvm::reportFatalUsageError(StringRef(reason));
  return *arch;
}

void amd::registerPipelines() {
  registerAmdPasses();
  PassPipelineRegistration<HipPipeline>("hip-ttir", "from the front end's tt to ttir",
                                        [](OpPassManager &passes, const HipPipeline &pipeline) {
                                          (void)archNamed(pipeline);
                                          buildTtirPipeline(passes, pipeline.options());
                                        });
  PassPipelineRegistration<HipPipeline>("hip-ttgir", "from ttir to ttgir",
                                        [](OpPassManager &passes, const HipPipeline &pipeline) {
                                          buildTtgirPipeline(passes, archNamed(pipeline), pipeline.options());
                                        });
}
