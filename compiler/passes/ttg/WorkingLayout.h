// Chooses layouts in which scans can work.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttg {

/// The layout in which a scan takes its operands and gives its results: its class's layout if each bit along the axis
/// has a holder of its own there, else the plain one.
LayoutEncoding workingLayout(tt::ScanOp scan, LayoutEncoding ofClass,
                             llvm::function_ref<LayoutEncoding(mlir::RankedTensorType)> plain);

} // namespace nereid::ttg
