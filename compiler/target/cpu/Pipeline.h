// The pipelines of passes that the CPU target runs on `tt`.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace mlir {
class OpPassManager;
}

namespace nereid::cpu {

/// What the passes need to know of the machine and of the options.
struct PrepareOptions {
  std::string arch = "this CPU"; ///< for messages
  bool hasF16c = true;
  bool hasAmxBf16 = false;
  unsigned registerBits = 512;
  uint32_t sanitizers = 0; ///< bits of support::Sanitizer
};

/// From sema's `tt` to the stage `ttir`: every function becomes part of its callers.
void buildTtirPipeline(mlir::OpPassManager &passes, bool fusesFloats);
/// From `ttir` to the `tt` that the plan is made of.
void buildPreparePipeline(mlir::OpPassManager &passes, const PrepareOptions &options);
/// Makes both known to nereid-opt, as `cpu-ttir` and `cpu-prepare`, and this folder's passes by their names.
void registerPipelines();

} // namespace nereid::cpu
