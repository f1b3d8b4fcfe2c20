// The pipeline that every target runs on `tt` before its own.
// SPDX-License-Identifier: MIT
#pragma once

namespace mlir {
class OpPassManager;
}

namespace nereid::tt {

/// Calls inlined, constants folded, equal values merged, unused functions gone.
void buildOptimisePipeline(mlir::OpPassManager &passes);
/// Makes it known to nereid-opt as `tt-optimise`.
void registerPipelines();

} // namespace nereid::tt
