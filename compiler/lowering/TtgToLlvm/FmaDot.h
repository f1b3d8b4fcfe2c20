// Emits dots element by element, for types without a matrix instruction.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

/// Emits the dot as multiply-adds. Operands in shared memory are read step by step along k; where both are there and
/// the work is large, a loop is emitted.
mlir::LogicalResult emitFmaDot(TtgFunctionEmitter &emitter, tt::DotOp op);

/// Defines the dot as what `accumulate` makes of its accumulators, which are passed in the type that it is given.
void accumulateDot(TtgFunctionEmitter &emitter, tt::DotOpInterface op,
                   llvm::function_ref<void(mlir::Type wide, Tile &accumulators)> accumulate);

} // namespace nereid::lowering
