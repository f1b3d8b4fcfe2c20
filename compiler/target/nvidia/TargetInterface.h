// What the passes and the lowering of `ttg` learn about NVIDIA GPUs.
// SPDX-License-Identifier: MIT
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace nereid::nvidia {

/// Registers the `ttng` dialect with its implementation of ttg::TargetInterface.
void registerDialect(mlir::DialectRegistry &registry);

} // namespace nereid::nvidia
