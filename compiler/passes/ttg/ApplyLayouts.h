// Rewrites a function's tiles to the layouts chosen for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutClasses.h"

namespace nereid::ttg {

/// Gives every tile its class's layout, rematerialises cheap tiles in each layout needed, and inserts a conversion
/// where an op needs another layout than its operand has.
void applyLayouts(tt::FuncOp function, const LayoutClasses &classes, llvm::ArrayRef<LayoutEncoding> layouts,
                  llvm::function_ref<LayoutEncoding(mlir::RankedTensorType)> signatureLayout);

} // namespace nereid::ttg
