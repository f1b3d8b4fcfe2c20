// Finds the neutral element of a combination, and values that are zero.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace nereid::tt {

/// The neutral element of an op on two numbers; null where there is none, or none is known.
mlir::TypedAttr neutralElement(mlir::Operation *combination);

/// Whether a number, or each element of a tile, is the constant 0 of integers or +0 of floats.
bool isPositiveZero(mlir::Value value);

} // namespace nereid::tt
