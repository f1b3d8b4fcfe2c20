// Finds loads and stores through one argument of a kernel whose threads need a barrier in between.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace nereid::analysis {

/// A load, or a store or atomic update, through the pointers of one argument.
struct GlobalAccess {
  mlir::BlockArgument base;
  /// The pointers of the access; null for a load of elements that several warps hold: each of them loads, but one
  /// stores.
  mlir::Value pointer;
  bool writes = false;
  bool operator==(const GlobalAccess &) const = default;
  /// Whether one thread may store what another has yet to load, or load what another has yet to store. Each thread of a
  /// tile that is stored where it was loaded stores what it has loaded.
  bool isHazardWith(const GlobalAccess &other) const {
    return base == other.base && writes != other.writes && !(pointer && pointer == other.pointer);
  }
};

/// Different arguments are assumed not to overlap.
class GlobalHazards {
public:
  /// One access for each argument that the op's pointers may start from.
  llvm::SmallVector<GlobalAccess, 1> accessesOf(mlir::Operation &op);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::BlockArgument, 1>> bases; ///< of pointers seen before
};

} // namespace nereid::analysis
