// Walks the element expression that a nest evaluates for a root.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/LoopPlan.h"

#include "llvm/ADT/DenseSet.h"

#include <functional>

namespace nereid::cpu {

/// Visits each (value, index map) that the evaluation of a tile element needs, scalars included, each once. The visitor
/// returns whether to continue with the value's operands; scalars and tiles without a computable definition end a walk.
class ExpressionWalk {
public:
  using Visitor = std::function<bool(mlir::Value, const IndexMap &)>;

  ExpressionWalk(AffineInfo &affineInfo, Visitor visitor) : affineInfo(affineInfo), visitor(std::move(visitor)) {}

  /// Treats addresses that are affine under assumptions as affine: what they are computed from is then not visited.
  bool takesAssumptions = false;

  /// Visits what a root evaluates; the root itself is not visited.
  void root(const Root &root);
  /// Visits what the roots of a nest evaluate.
  void nest(const Nest &nest) {
    for (const Root &root : nest.roots)
      this->root(root);
  }

private:
  void push(mlir::Value value, const IndexMap &map);
  void pushOperands(mlir::Value value, const IndexMap &map);
  void pushScalars(const AffineForm &form);
  void pushScalars(const Polynomial &poly);
  void pushPointer(mlir::Value pointer, const IndexMap &map);
  void drain();

  AffineInfo &affineInfo;
  Visitor visitor;
  llvm::DenseSet<std::pair<mlir::Value, uint64_t>> seen;
  /// The next entry to visit is last. An explicit stack: expressions may be tens of thousands of ops deep.
  std::vector<std::pair<mlir::Value, IndexMap>> waiting;
};

/// The map with -1 where the value does not depend on the dimension.
IndexMap reduceMap(AffineInfo &affineInfo, mlir::Value value, IndexMap map);

/// Whether the op is a function of a mathematical library that takes tens of instructions.
bool isMathFunction(mlir::Operation *op);
/// Whether the op computes an element in tens of instructions: such a function, a call, inline assembly.
bool isSlowFunction(mlir::Operation *op);

/// Whether the op's result at an index is computed from operands at mapped indices.
bool isComputable(mlir::Operation *op);

} // namespace nereid::cpu
