// Builds the pass pipelines of the NVIDIA target: sema's `tt` to `ttir`, and that to `ttgir`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/nvidia/Archs.h"

namespace mlir {
class OpPassManager;
}

namespace nereid::nvidia {

/// A target feature: descriptors use TMA wherever possible, not only where that pays.
inline constexpr llvm::StringLiteral kTensorCopies = "+tma";
/// A launch passes the host's descriptors as tensor maps.
inline constexpr llvm::StringLiteral kHostMaps = "+maps";

/// From sema's `tt` to the stage `ttir`; descriptors go through TMA where the target has it and its PTX may make tensor
/// maps.
void buildTtirPipeline(mlir::OpPassManager &passes, const support::TargetSpec &target, const support::Options &options);
/// From `ttir` to the `ttg` that is lowered: assigns layouts, pipelines loops, allocates shared memory.
void buildTtgirPipeline(mlir::OpPassManager &passes, const Arch &arch, const support::Options &options);
/// Registers both with nereid-opt, as `cuda-ttir` and `cuda-ttgir`.
void registerPipelines();

} // namespace nereid::nvidia
