// Groups the tiles of a function into classes that share one layout, and lists the edges between classes.
// SPDX-License-Identifier: MIT
//
// Elementwise ops, loops and branches put their operands and results into one class. Edges between classes are the
// result of a load, the value of a store, a reduction, a change of shape. Only an edge can need a layout conversion.
// Values computed from scalars alone (ranges, splats and cheap ops on these) are in no class: they are rematerialised
// in each layout needed.
#pragma once

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttg/Dialect.h"

#include <vector>

namespace nereid::ttg {

struct Edge {
  unsigned start = 0, end = 0; ///< nodes; classes after uniting
  LayoutTransfer transfer;
  unsigned elementBits = 0; ///< of the tile that a conversion moves
  unsigned loopDepth = 0;
};

/// A reduction or scan.
struct Reduction {
  mlir::Operation *op;
  unsigned axis = 0;
  unsigned loopDepth = 0;
};

struct Access {
  analysis::MemoryAccess access;
  unsigned loopDepth = 0;
};

struct LayoutClass {
  llvm::SmallVector<int64_t> shape; ///< the largest extents of its members
  llvm::SmallVector<Access, 2> accesses;
  llvm::SmallVector<Reduction, 2> reductions;
  llvm::SmallVector<unsigned, 4> edges; ///< edges that start or end here
  LayoutEncoding fixed;                 ///< given by constraints such as a function's signature
};

class LayoutClasses {
public:
  struct Tables {
    std::vector<LayoutClass> classes;
    std::vector<Edge> edges;
    llvm::DenseMap<mlir::Value, unsigned> valueNodes;
    llvm::DenseMap<mlir::Operation *, unsigned> opNodes;
    llvm::SmallVector<unsigned> classOfNode;
    llvm::DenseMap<mlir::OpOperand *, LayoutEncoding> dotOperands;
  };
  explicit LayoutClasses(Tables tables) : tables(std::move(tables)) {}

  /// Fails, with a diagnostic, on a tile or an op that layouts have no rule for. `signatureLayout` gives the layout of
  /// tiles in function signatures, `dotLayout` that of a dot's result, `copyLayout` that of tiles that are loaded
  /// through shared memory anyway.
  static llvm::FailureOr<LayoutClasses>
  build(tt::FuncOp function, llvm::function_ref<LayoutEncoding(mlir::RankedTensorType)> signatureLayout,
        llvm::function_ref<LayoutEncoding(tt::DotOpInterface)> dotLayout,
        llvm::function_ref<LayoutEncoding(mlir::RankedTensorType)> copyLayout);

  llvm::ArrayRef<LayoutClass> classes() const { return tables.classes; }
  llvm::ArrayRef<Edge> edges() const { return tables.edges; }

  /// True for a tile that is rematerialised in each layout.
  bool isRematerialised(mlir::Value value) const { return !tables.valueNodes.contains(value); }
  /// The class of a tile that is not rematerialised.
  unsigned classOf(mlir::Value value) const { return tables.classOfNode[tables.valueNodes.lookup(value)]; }
  /// The class of the layout in which an op with a relation works.
  unsigned classOf(mlir::Operation *op) const { return tables.classOfNode[tables.opNodes.lookup(op)]; }
  /// The layout in which a dot takes an operand; null where any works. It is chosen while no tile has a layout: that of
  /// a neighbour would say nothing about this dot.
  LayoutEncoding dotOperandLayout(mlir::OpOperand &operand) const { return tables.dotOperands.lookup(&operand); }

private:
  Tables tables;
};

} // namespace nereid::ttg
