// Emits dots element by element, for types without a matrix instruction.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

/// Whether the tile is used only by an element-by-element dot, which then reads it from shared memory itself.
bool isReadByFmaDot(ttg::LocalLoadOp load);

/// Adds the dot to `accumulators`, which are of type `sum`. Operands in shared memory are read step by step along k;
/// where both are there and the work is large, a loop is emitted.
void emitFmaDot(TtgFunctionEmitter &emitter, tt::DotOp op, mlir::Type sum, Tile &accumulators);

} // namespace nereid::lowering
