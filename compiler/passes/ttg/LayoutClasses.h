// Groups the tiles of a function into classes that share one layout, and says what stands between classes.
// SPDX-License-Identifier: MIT
//
// Elementwise ops, loops and branches make their operands and results one class. Between classes stand edges: the
// result of a load, the value of a store, a reduction, a change of shape. A layout conversion can only ever stand on an
// edge. Values that are made from nothing but scalars (ranges, splats and cheap ops on these) are in no class: they are
// made again in each layout that wants them.
#pragma once

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttg/Dialect.h"

#include <vector>

namespace nereid::ttg {

/// How the layout at an edge's end follows from the one at its start.
struct LayoutTransfer {
  enum class Kind { Same, Slice, Expand, Transpose, Reshape, Join, Concatenate } kind = Kind::Same;
  unsigned axis = 0;                   ///< Slice, Expand
  llvm::SmallVector<int32_t> order;    ///< Transpose
  llvm::SmallVector<int64_t> from, to; ///< shapes at both ends

  LayoutEncoding forward(LayoutEncoding start) const;
  /// A layout at the start whose forward is `end`; null where there is none.
  LayoutEncoding backward(LayoutEncoding end) const;
};

struct Edge {
  unsigned start = 0, end = 0; ///< nodes; classes once all is united
  LayoutTransfer transfer;
  unsigned elementBits = 0; ///< of the tile that a conversion would move
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
  llvm::SmallVector<unsigned, 4> edges; ///< that start or end here
  LayoutEncoding fixed;                 ///< given from outside, as by a function's signature
};

class LayoutClasses {
public:
  /// Fails, with a diagnostic, on a tile or an op that layouts have no rule for. `signatureLayout` gives the layout of
  /// tiles that pass from function to function, `dotLayout` that of a product's result, `copyLayout` that of tiles that
  /// come through shared memory anyway.
  static llvm::FailureOr<LayoutClasses>
  build(tt::FuncOp function, llvm::function_ref<LayoutEncoding(mlir::RankedTensorType)> signatureLayout,
        llvm::function_ref<LayoutEncoding(tt::DotOp)> dotLayout,
        llvm::function_ref<LayoutEncoding(mlir::RankedTensorType)> copyLayout);

  llvm::ArrayRef<LayoutClass> classes() const { return list; }
  llvm::ArrayRef<Edge> edges() const { return edgeList; }

  /// True for a tile that is made again in each layout.
  bool isRematerialised(mlir::Value value) const { return !valueNodes.contains(value); }
  /// The class of a tile that is not cheap.
  unsigned classOf(mlir::Value value) const { return classOfNode[valueNodes.lookup(value)]; }
  /// The class of an access's pointers, of what a product is added to, of the operands of a reduction, a scan, a
  /// histogram, a join, of the results of a split, a gather or a load of a tile through a map.
  unsigned classOf(mlir::Operation *op) const { return classOfNode[opNodes.lookup(op)]; }

private:
  friend class ClassBuilder;
  std::vector<LayoutClass> list;
  std::vector<Edge> edgeList;
  llvm::DenseMap<mlir::Value, unsigned> valueNodes;
  llvm::DenseMap<mlir::Operation *, unsigned> opNodes;
  llvm::SmallVector<unsigned> classOfNode;
};

/// How each of the halves that a join or cat takes and a split gives becomes the whole.
LayoutTransfer halfTransfer(mlir::Operation *op);
/// The relation between operand and result of an op that changes the shape; none for other ops.
std::optional<LayoutTransfer> shapeTransfer(mlir::Operation *op);

} // namespace nereid::ttg
