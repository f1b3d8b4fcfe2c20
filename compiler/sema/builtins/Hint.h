// Hints that are held by an op of their own.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nereid::sema {

/// Replaces all uses of hinted values by the ops that hold the hints. Called once the module is complete.
void useHints(mlir::ModuleOp module);

} // namespace nereid::sema
