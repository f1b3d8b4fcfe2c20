// The pipeline from `tt` to `ttg` that GPU targets run.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace mlir {
class OpPassManager;
}

namespace nereid::ttg {

/// What the passes need to know of the machine and of the options.
struct GpuPipelineOptions {
  unsigned numWarps = 4;
  unsigned threadsPerWarp = 32;
  unsigned numCtas = 1;
  std::string target = "cuda:90";       ///< as it stands on the module
  bool hasWarpMma = true;               ///< matrix instructions of a warp
  bool hasWarpGroupMma = false;         ///< and of four warps, from shared memory
  bool hasAsyncCopy = true;             ///< copies to shared memory beside the threads
  bool hasVectorAtomics = false;        ///< sums of up to 16 bytes of floats in global memory
  unsigned defaultStages = 1;           ///< of loops without a product that do not say how many
  unsigned dotStages = 3;               ///< of those with one
  unsigned askedStages = 0;             ///< of the kernel, which loops without a dot do not follow; 0: not asked for
  unsigned maxSharedBytes = 227 * 1024; ///< of a block
  unsigned prefetchRegisters = 32;      ///< of a thread, for tiles that are loaded ahead; 0: none are
};

/// Layouts assigned, loads rotated, equal ops merged; the shared memory's size stands on the module.
void buildPipeline(mlir::OpPassManager &passes, const GpuPipelineOptions &gpu);
/// Makes it known to nereid-opt as `ttg-default`, and its passes by their names.
void registerPipelines();

} // namespace nereid::ttg
