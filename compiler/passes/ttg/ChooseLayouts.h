// Chooses a layout for each class of tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// Chooses a layout for each class. `matrixAccesses` are those of the target.
llvm::SmallVector<LayoutEncoding> chooseLayouts(const LayoutClasses &classes, const index::AxisInfoAnalysis &axisInfo,
                                                ThreadCounts threads, MatrixAccesses matrixAccesses,
                                                mlir::MLIRContext *context);

} // namespace nereid::ttg
