// Computes axis info: steps and divisibility of integers and pointers along each dimension of a tile.
// SPDX-License-Identifier: MIT
//
// All numbers are powers of two and describe groups that are aligned in the tile: group i of size k holds the
// coordinates [i * k, i * k + k). They hold for numbers that wrap around. A sum that may exceed its type has any of the
// type's numbers, except offsets, which do not exceed it: Wrap.h.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/index/IntegerRange.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace nereid::ttg {
class WarpSpecializeOp;
}

namespace nereid::index {

/// The axis info of one value; a scalar is a tile of one dimension with extent 1.
struct AxisInfo {
  struct Dim {
    int64_t group = 1;        ///< in each group of this size the values increase by `step`
    int64_t step = 0;         ///< pointers: in bytes; 0 for groups of one
    int64_t divisibility = 1; ///< the first value of each group is divisible by this (pointers: in bytes)
    bool operator==(const Dim &) const = default;
  };
  llvm::SmallVector<Dim, 2> dims = {Dim()};
  int64_t unit = 1;   ///< bytes of an element for pointers; 1 for integers
  IntegerRange range; ///< of integers

  /// Every element, where it is one known integer.
  std::optional<int64_t> constant() const { return range.low == range.high ? std::optional(range.low) : std::nullopt; }
  bool isNonNegative() const { return range.low >= 0; }
  /// The size of groups whose elements are adjacent: numbers that count up by one, or addresses of neighbours.
  int64_t contiguity(unsigned dim) const { return dims[dim].step == unit ? dims[dim].group : 1; }
  /// The size of groups whose values are equal.
  int64_t constancy(unsigned dim) const { return dims[dim].step == 0 ? dims[dim].group : 1; }
  /// The size of groups whose values stay below the next multiple of a power of two that divides the first one, and
  /// `most`.
  int64_t alignedGroup(unsigned dim, int64_t most) const;
  /// Replaces the groups along `dim`; steps of more than 31 bits are not represented.
  void setGroup(unsigned dim, int64_t size, int64_t step);
  /// The divisibility of the first value of each group of `size` along `dim`; `size` may differ from the group's.
  int64_t divisibilityAt(unsigned dim, int64_t size) const;
  /// The divisibility of every value.
  int64_t elementDivisibility() const;
  /// What holds for both values.
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);
  bool operator==(const AxisInfo &) const = default;
};

/// The largest power of two that divides `value`, at most 2^30, which is also the result for 0.
int64_t powerOfTwoIn(int64_t value);

/// Axis info of every value below an op, a function or a module; works on `tt` and `ttg`, with scf as control flow.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::Operation *root);
  /// For a value created after the analysis nothing is known.
  AxisInfo of(mlir::Value value) const;
  IntegerRange rangeOf(mlir::Value value) const;

private:
  /// The info of values from outside of a basic block, before an assumption inside it refined it.
  using Restored = llvm::SmallVectorImpl<std::pair<mlir::Value, AxisInfo>>;
  void visitFunction(tt::FuncOp function);
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitFor(mlir::scf::ForOp loop);
  void visitWhile(mlir::scf::WhileOp loop);
  void visitBranches(mlir::Operation &op);
  void visitWarps(ttg::WarpSpecializeOp op);
  void assumeHolds(mlir::Value condition, mlir::Block &block, Restored &before);
  bool joinInto(mlir::ValueRange targets, mlir::ValueRange sources, bool isRepeated);
  void assign(mlir::ValueRange targets, mlir::ValueRange sources);
  void visitUntilStable(mlir::ValueRange carried, mlir::ValueRange next, llvm::function_ref<void()> visitBody);
  void set(mlir::Value value, AxisInfo info);

  llvm::DenseMap<mlir::Value, AxisInfo> infos;
};

} // namespace nereid::index
