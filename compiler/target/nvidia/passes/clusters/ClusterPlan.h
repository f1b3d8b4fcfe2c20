// Chooses which tiles of a kernel are split over the CTAs of a cluster, and along which dimensions.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/passes/clusters/ClusterRules.h"

#include "llvm/ADT/DenseSet.h"

#include <string>

namespace nereid::nvidia {

struct ClusterPlan {
  /// The split dimension of tiles; every CTA has the whole of others.
  llvm::DenseMap<mlir::Value, unsigned> splitOf;
  /// How ops are divided; every CTA computes the whole of others.
  llvm::DenseMap<mlir::Operation *, SplitDim> dimOf;
  /// Tiles of which each user gets its own part.
  llvm::DenseSet<mlir::Value> rematerialised;
  /// Tensor maps whose blocks are split: the dimension.
  llvm::DenseMap<mlir::Value, unsigned> blockSplitOf;

  /// What is split, in a user's words; empty where nothing is.
  std::string text;
  /// Where nothing is split: why, and the op at fault.
  std::string reason;
  mlir::Operation *culprit = nullptr;
};

ClusterPlan planCluster(tt::FuncOp kernel, const ClusterShape &shape);

/// The operation whose result a tile access's tensor map is, or the kernel's argument; null where it may be one of
/// several.
mlir::Value tensorMapOf(mlir::Operation *access);

} // namespace nereid::nvidia
