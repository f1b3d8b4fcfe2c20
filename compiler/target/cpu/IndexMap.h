// How the index of a tile's element is made of the loop indices of a nest.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::cpu {

/// For each dimension of a tile the loop that indexes it, or -1 for index 0.
using IndexMap = llvm::SmallVector<int8_t, 4>;

IndexMap identityMap(size_t rank);

/// Whether each element of the results is made of the operands' elements at the same index.
bool isElementwise(mlir::Operation *op);
/// expand_dims, broadcast, trans, reshape.
bool isShapeChange(mlir::Operation *op);

/// The index of an operand's element given that of the result's. Nothing where
/// it is none of the loops' indices (a reshape that splits or joins dimensions).
std::optional<IndexMap> operandMap(mlir::Operation *op, unsigned operand, const IndexMap &result);

} // namespace nereid::cpu
