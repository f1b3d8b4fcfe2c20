// Builds the pipeline on `tt` that runs before every target's own.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class OpPassManager;
}

namespace nereid::tt {

/// Inlines calls, folds constants, merges equal values, folds sums of dots into one op, drops unused functions.
/// `fusesFloats`: a multiplication and an addition may be rounded once.
/// `lowerDescriptors` adds passes that lower descriptors before they are expanded.
void buildOptimisePipeline(mlir::OpPassManager &passes, bool fusesFloats,
                           llvm::function_ref<void(mlir::OpPassManager &)> lowerDescriptors = {});
/// Registers it with nereid-opt as `tt-optimise`.
void registerPipelines();

} // namespace nereid::tt
