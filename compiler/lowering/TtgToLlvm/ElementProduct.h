// Products of tiles element by element, where no matrix instruction has the types.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"

namespace nereid::lowering {

/// A tile that the product alone takes, element by element: it is read while the product multiplies.
bool isReadWhileMultiplied(ttg::LocalLoadOp load);

/// Adds the products to `sums`, which are of type `sum`. Operands in shared memory are read step by step along k; where
/// both are, and there is much to multiply, a loop does it.
void multiplyElements(FunctionEmitter &emitter, tt::DotOp op, mlir::Type sum, Tile &sums);

} // namespace nereid::lowering
