// Walks the element expression that a nest evaluates for a root.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/LoopPlan.h"

#include "llvm/ADT/DenseSet.h"

#include <functional>

namespace nereid::cpu {

/// Visits each (value, index map) that evaluating a tile element asks for,
/// scalars included, each once. The visitor answers whether to go on into the
/// value's operands; scalars and tiles without a computable definition end a walk.
class ExpressionWalk {
public:
  using Visitor = std::function<bool(mlir::Value, const IndexMap &)>;

  ExpressionWalk(AffineInfo &affineInfo, Visitor visitor) : affineInfo(affineInfo), visitor(std::move(visitor)) {}

  /// Addresses are taken to be affine where assumptions hold: what they are computed from is not visited then.
  bool takesAssumptions = false;

  /// What a root evaluates; the root itself is not visited.
  void root(const Root &root);

private:
  void push(mlir::Value value, const IndexMap &map);
  void pushOperands(mlir::Value value, const IndexMap &map);
  void pushScalars(const AffineForm &form);
  void pushScalars(const Poly &poly);
  void pushPointer(mlir::Value pointer, const IndexMap &map);
  void drain();

  AffineInfo &affineInfo;
  Visitor visitor;
  llvm::DenseSet<std::pair<mlir::Value, uint64_t>> seen;
  /// What is to be visited next stands last. Not the call stack: expressions may be tens of thousands deep.
  std::vector<std::pair<mlir::Value, IndexMap>> waiting;
};

/// The map with -1 where the value does not depend on the dimension.
IndexMap reduceMap(AffineInfo &affineInfo, mlir::Value value, IndexMap map);

/// Whether the op's result at an index is computed from operands at mapped indices.
bool isComputable(mlir::Operation *op);

} // namespace nereid::cpu
