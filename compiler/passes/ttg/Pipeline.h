// Builds the pipeline from `tt` to `ttg` that GPU targets run.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace mlir {
class OpPassManager;
}

namespace nereid::ttg {

/// Properties of the machine, and options, that the passes depend on.
struct GpuPipelineOptions {
  unsigned numWarps = 4;
  unsigned threadsPerWarp = 32;
  unsigned numCtas = 1;
  std::string target = "cuda:90";       ///< as in the module's attribute
  bool hasWarpMma = true;               ///< matrix instructions of a warp (mma)
  bool hasWarpGroupMma = false;         ///< matrix instructions of four warps (wgmma)
  bool hasAsyncCopy = true;             ///< asynchronous copies to shared memory (cp.async)
  bool hasVectorAtomics = false;        ///< atomic additions of float vectors of up to 16 bytes in global memory
  unsigned defaultStages = 1;           ///< of loops without a dot that do not set num_stages
  unsigned dotStages = 3;               ///< of loops with a dot that do not set num_stages
  unsigned askedStages = 0;             ///< num_stages of the kernel, ignored by loops without a dot; 0: not set
  unsigned maxSharedBytes = 227 * 1024; ///< of a CTA
  unsigned prefetchRegisters = 32;      ///< of a thread, for prefetched tiles; 0: no prefetch
};

/// Assigns layouts, pipelines loads, merges equal ops, and sets the shared memory's size on the module.
void buildPipeline(mlir::OpPassManager &passes, const GpuPipelineOptions &gpu);
/// Registers it with nereid-opt as `ttg-default`, and its passes by their names.
void registerPipelines();

} // namespace nereid::ttg
