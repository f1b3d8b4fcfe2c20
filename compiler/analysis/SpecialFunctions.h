// Tells which ops the unit for special functions computes.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace nereid::analysis {

/// The elements of a tile; 0 for a scalar.
uint64_t elementsOf(mlir::Type type);

/// Whether a GPU's unit for special functions computes most of the op.
bool usesSpecialFunctions(mlir::Operation *op);

} // namespace nereid::analysis
