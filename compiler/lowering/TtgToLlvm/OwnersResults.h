// Passes results of the threads that access memory to those that hold copies of their elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

/// By a shuffle or, where the op has scratch memory, through it. `type` is that of the op's result.
void shareOwnersResults(TtgFunctionEmitter &emitter, mlir::Operation *op, mlir::RankedTensorType type, Tile &result);

} // namespace nereid::lowering
