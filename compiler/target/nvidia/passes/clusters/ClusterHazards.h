// Orders accesses by the CTAs of a cluster that share the work of a program: to global memory, and to each other's
// shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/GlobalEffects.h"
#include "compiler/dialect/tt/Dialect.h"

#include <optional>

namespace nereid::nvidia {

struct ClusterAccess {
  analysis::GlobalEffects effects;
  bool isPart = false; ///< each CTA accesses its part of a tile; else all read the whole, and the first one writes it
  /// The offsets from one pointer that the addresses of the part are.
  llvm::SmallVector<mlir::Value, 2> offsets;
};
using ClusterAccesses = llvm::DenseMap<mlir::Operation *, ClusterAccess>;

/// The access of an op; none for an op that does not access global memory.
std::optional<ClusterAccess> clusterAccessOf(mlir::Operation &op, bool isPart);

/// Inserts barriers of the cluster between accesses of different CTAs that may conflict. `accesses` are those of the
/// function; ops inside of them are not visited.
void insertClusterBarriers(tt::FuncOp function, const ClusterAccesses &accesses);

/// Drops barriers at the end of exchanges that a later barrier replaces, or lets them complete at the function's end.
void relaxExchanges(tt::FuncOp function);

} // namespace nereid::nvidia
