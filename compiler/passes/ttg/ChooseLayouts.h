// Chooses a layout for each class of tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LayoutCost.h"

namespace nereid::ttg {

/// One layout per class.
llvm::SmallVector<LayoutEncoding> chooseLayouts(const LayoutClasses &classes,
                                                const analysis::AxisInfoAnalysis &axisInfo, ThreadCounts threads,
                                                mlir::MLIRContext *context);

} // namespace nereid::ttg
