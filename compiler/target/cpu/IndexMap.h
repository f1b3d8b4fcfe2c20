// How the index of a tile's element is made of the loop indices of a nest.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::cpu {

/// For each dimension of a tile the loop that indexes it, or -1 - n for index n.
using IndexMap = llvm::SmallVector<int8_t, 4>;

inline int8_t fixedIndex(unsigned index) { return static_cast<int8_t>(-1 - static_cast<int>(index)); }
/// The index that an entry below 0 stands for.
inline unsigned indexOfFixed(int8_t entry) { return -1 - entry; }

IndexMap identityMap(size_t rank);

/// Whether each element of the results is made of the operands' elements at the same index.
bool isElementwise(mlir::Operation *op);
/// expand_dims, broadcast, trans, reshape, split.
bool isShapeChange(mlir::Operation *op);

/// The index of an operand's element given that of the result's. Nothing where
/// it is none of the loops' indices (a reshape that splits or joins dimensions).
std::optional<IndexMap> operandMap(mlir::Operation *op, unsigned operand, const IndexMap &result);
/// The same for one of the results of an op whose results lie at different places.
std::optional<IndexMap> operandMap(mlir::Value result, unsigned operand, const IndexMap &map);

/// The constant that all elements of a tile of integers are their place along `loop` exclusive-or; else nothing.
std::optional<int64_t> xorOfIndex(mlir::Value index, IndexMap map, int loop);

} // namespace nereid::cpu
