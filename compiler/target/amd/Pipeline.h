// Builds the pass pipelines of the AMD target: sema's `tt` to `ttir`, and that to `ttgir`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Options.h"
#include "compiler/target/amd/arch/Archs.h"

namespace mlir {
class OpPassManager;
}

namespace nereid::amd {

void buildTtirPipeline(mlir::OpPassManager &passes, const support::Options &options);
/// From `ttir` to the `ttg` that is lowered: assigns layouts, pipelines loops, allocates shared memory.
void buildTtgirPipeline(mlir::OpPassManager &passes, const Arch &arch, const support::Options &options);

/// Registers both with nereid-opt, as `hip-ttir` and `hip-ttgir`.
void registerPipelines();

} // namespace nereid::amd
