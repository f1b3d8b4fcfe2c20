// Products of tiles element by element, where no matrix instruction has the types.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

/// A tile that the product alone takes, element by element: it is read while the product multiplies.
bool isReadByFmaDot(ttg::LocalLoadOp load);

/// Adds the products to `accumulators`, which are of type `sum`. Operands in shared memory are read step by step along
/// k; where both are, and there is much to multiply, a loop does it.
void emitFmaDot(TtgFunctionEmitter &emitter, tt::DotOp op, mlir::Type sum, Tile &accumulators);

} // namespace nereid::lowering
