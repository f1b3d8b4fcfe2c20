// Builds the pipeline from the front end's module of a Gluon kernel to `ttg` that targets lower.
// SPDX-License-Identifier: MIT
#pragma once

namespace mlir {
class OpPassManager;
}

namespace nereid::gluon {

/// Inlines, finds open layouts and simplifies. Layouts, buffers, copies and loops stay as the author wrote them.
void buildPipeline(mlir::OpPassManager &passes);
/// Registers it with nereid-opt as `gluon-optimise`, and the passes of this folder by name.
void registerPipelines();

} // namespace nereid::gluon
