// Tells along which dimensions the CTAs of a cluster can divide the work of an op.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include <optional>

namespace nereid::nvidia {

/// A dimension along which each CTA can compute a part of an op from parts of its operands.
struct SplitDim {
  using ValueDims = llvm::SmallVector<std::optional<unsigned>, 4>;
  /// The dimension of each operand and result that this is; none where each CTA has or needs the whole tile.
  ValueDims operands, results;
  /// The op combines the elements along the dimension: the CTAs have partial results.
  bool isCombined = false;
};

/// Empty for an op that every CTA must compute as a whole.
llvm::SmallVector<SplitDim, 2> splitDimsOf(mlir::Operation *op);

/// Whether each user can have its own copy of the op, of the part that it needs: the value is computed from ranges,
/// constants and scalars alone. `isRematerialised` answers for operands.
bool isRematerialised(mlir::Operation *op, llvm::function_ref<bool(mlir::Value)> isRematerialised);

/// The CTAs of a cluster, and what an exchange between them costs.
struct ClusterShape {
  unsigned numCtas = 2;
  unsigned maxBytes = 227 * 1024; ///< of shared memory, of a CTA
  bool wherePossible = false;     ///< whether tiles are split even where that costs more than it saves
};

} // namespace nereid::nvidia
