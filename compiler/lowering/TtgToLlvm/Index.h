// Emits integer arithmetic on tiles whose registers differ by constants.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

/// Emits a sum, product, shift or extension of integer tiles as one computation on bases; false, with nothing emitted,
/// for other ops.
bool emitIndex(TtgFunctionEmitter &emitter, mlir::Operation *op);

} // namespace nereid::lowering
