// The pipeline that every target runs on `tt` before its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class OpPassManager;
}

namespace nereid::tt {

/// Calls inlined, constants folded, equal values merged, sums of products in one op, unused functions gone.
/// `fusesFloats`: a multiplication and an addition may be rounded once.
/// `lowerDescriptors` adds passes that take descriptors before they are expanded.
void buildOptimisePipeline(mlir::OpPassManager &passes, bool fusesFloats,
                           llvm::function_ref<void(mlir::OpPassManager &)> lowerDescriptors = {});
/// Makes it known to nereid-opt as `tt-optimise`.
void registerPipelines();

} // namespace nereid::tt
