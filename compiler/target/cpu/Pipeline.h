// The pass pipelines that the CPU target runs on `tt`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/prepare/DotForm.h"

#include <cstdint>
#include <string>

namespace mlir {
class OpPassManager;
}

namespace nereid::cpu {

/// Properties of the machine and options that the passes depend on.
struct PrepareOptions {
  std::string arch = "this CPU"; ///< for messages
  bool hasF16c = true;
  DotMachine dots;
  uint32_t sanitizers = 0; ///< bits of artifact::Sanitizer
};

/// From sema's `tt` to the stage `ttir`: every function is inlined into its callers.
void buildTtirPipeline(mlir::OpPassManager &passes, bool fusesFloats);
/// From `ttir` to the `tt` that the plan is built from.
void buildPreparePipeline(mlir::OpPassManager &passes, const PrepareOptions &options);
/// Registers both for nereid-opt, as `cpu-ttir` and `cpu-prepare`, and this folder's passes by name.
void registerPipelines();

} // namespace nereid::cpu
