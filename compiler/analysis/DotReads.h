// Finds loads from shared memory that a dot executes itself, where it uses their elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::analysis {

/// Whether the tile is used only by a dot that reads it from shared memory itself: one without a matrix instruction, or
/// any on a target whose matrix instructions take registers that need not be loaded all at once. The buffer is read at
/// the dot, not at the load.
bool isReadByDot(ttg::LocalLoadOp load);

/// The buffers that a dot reads itself.
llvm::SmallVector<mlir::Value, 2> buffersReadByDot(mlir::Operation &op);

} // namespace nereid::analysis
