// Builds the pass pipelines of the NVIDIA target: sema's `tt` to `ttir`, and that to `ttgir`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/nvidia/arch/Archs.h"

#include <string>

namespace mlir {
class OpPassManager;
}

namespace nereid::nvidia {

/// A target feature: descriptors use TMA wherever possible, not only where that pays.
inline constexpr llvm::StringLiteral kTensorCopies = "+tma";
/// A launch passes the host's descriptors as tensor maps.
inline constexpr llvm::StringLiteral kHostMaps = "+maps";
/// Whether the target's features, as in `+tma+sim`, include that one.
inline bool hasFeature(const support::TargetSpec &target, llvm::StringRef feature) {
  return llvm::StringRef(target.features).contains(feature);
}

/// From sema's `tt` to the stage `ttir`; descriptors go through TMA where the target has it and its PTX may make tensor
/// maps.
void buildTtirPipeline(mlir::OpPassManager &passes, const support::TargetSpec &target, const support::Options &options);
/// From `ttir` to the `ttg` that is lowered: assigns layouts, pipelines loops, allocates shared memory.
void buildTtgirPipeline(mlir::OpPassManager &passes, const Arch &arch, const support::Options &options);

/// What `ttg` that a user wrote, in Gluon or as text, still needs: tensor maps of descriptors, warps of partitions.
/// `takesTensorMaps`: the host passes its descriptors as tensor maps.
void buildUserTtgPipeline(mlir::OpPassManager &passes, bool takesTensorMaps, const support::Options &options);

/// Properties of the machine, and options, that the passes on `ttg` depend on.
struct TtgPipelineOptions {
  unsigned numWarps = 4;
  unsigned threadsPerWarp = 32;
  unsigned numCtas = 1;                 ///< of a cluster
  bool splitsWherePossible = false;     ///< whether tiles are split over a cluster even where that does not pay
  std::string target = "cuda:90";       ///< as in the module's attribute
  bool hasWarpMma = true;               ///< matrix instructions of a warp (mma)
  bool hasWarpGroupMma = false;         ///< matrix instructions of four warps (wgmma)
  bool hasAsyncCopy = true;             ///< asynchronous copies to shared memory (cp.async)
  bool specializesWarps = false;        ///< whether some warps may only load
  bool ownLauncher = false;             ///< whether a launch may start fewer CTAs than programs
  bool hasVectorAtomics = false;        ///< atomic additions of float vectors of up to 16 bytes in global memory
  unsigned defaultStages = 1;           ///< of loops without a dot that do not set num_stages
  unsigned dotStages = 3;               ///< of loops with a dot that do not set num_stages
  unsigned askedStages = 0;             ///< num_stages of the kernel, ignored by loops without a dot; 0: not set
  unsigned maxSharedBytes = 227 * 1024; ///< of a CTA
  unsigned prefetchRegisters = 32;      ///< of a thread, for prefetched tiles; 0: no prefetch
};
/// The part of it from padded `tt` on.
void buildTtgPipeline(mlir::OpPassManager &passes, const TtgPipelineOptions &options);

/// Registers both with nereid-opt, as `cuda-ttir` and `cuda-ttgir`, and the passes of `ttg` and of this target by name.
void registerPipelines();

} // namespace nereid::nvidia
