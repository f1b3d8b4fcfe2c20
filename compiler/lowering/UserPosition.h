// Finds the line of the user's source that an op comes from.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/explain/Explanation.h"

#include "mlir/IR/Location.h"

namespace nereid::lowering {

/// The innermost position outside of the library; that of the call for what a library function does. Line 0 where
/// there is none.
explain::Position userPosition(mlir::Location location);

} // namespace nereid::lowering
