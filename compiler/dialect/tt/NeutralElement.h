// Finds the neutral element of a combination.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace nereid::tt {

/// The neutral element of an op on two numbers; null where there is none, or none is known.
mlir::TypedAttr neutralElement(mlir::Operation *combination);

} // namespace nereid::tt
