// Hints that stand in an op of their own.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nereid::sema {

/// Once a module is complete: all that uses a hinted value uses the op that holds the hint.
void useHints(mlir::ModuleOp module);

} // namespace nereid::sema
