// The number that changes nothing when it is combined with another.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace nereid::analysis {

/// Of an op of two numbers; null where it has none, or none is known.
mlir::TypedAttr neutralElement(mlir::Operation *combination);

} // namespace nereid::analysis
