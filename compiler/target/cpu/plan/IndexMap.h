// How the index of a tile's element is formed from the loop indices of a nest.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::cpu {

/// For each dimension of a tile, the loop that indexes it, or -1 - n for the constant index n.
using IndexMap = llvm::SmallVector<int8_t, 4>;

inline int8_t fixedIndex(unsigned index) { return static_cast<int8_t>(-1 - static_cast<int>(index)); }
/// The constant index that an entry below 0 encodes.
inline unsigned indexOfFixed(int8_t entry) { return -1 - entry; }

/// A number for caches by map, which no other map of practical rank has.
inline uint64_t keyOf(const IndexMap &map) {
  uint64_t key = map.size();
  for (int8_t loop : map)
    key = key * 31 + static_cast<uint64_t>(loop + 3);
  return key;
}

IndexMap identityMap(size_t rank);

/// Whether each element of the results is computed from the operands' elements at the same index.
bool isElementwise(mlir::Operation *op);
/// expand_dims, broadcast, trans, reshape, split.
bool isShapeChange(mlir::Operation *op);

/// The index of an operand's element given that of a result's. Nullopt where it is not formed from loop indices alone
/// (a reshape that splits or joins dimensions).
std::optional<IndexMap> operandMap(mlir::Operation *op, unsigned operand, const IndexMap &result, unsigned number = 0);
std::optional<IndexMap> operandMap(mlir::Value result, unsigned operand, const IndexMap &map);

/// The constant c for which every element of an integer tile is its index along `loop` xor c; else nullopt.
std::optional<int64_t> xorOfIndex(mlir::Value index, IndexMap map, int loop);

} // namespace nereid::cpu
