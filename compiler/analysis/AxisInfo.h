// What is known of a tile's integers and pointers along each dimension: runs, multiples, repeats.
// SPDX-License-Identifier: MIT
//
// All numbers are powers of two and speak of groups that are aligned in the tile: group i of size k holds the
// coordinates [i * k, i * k + k). An index that overflows its type is taken to be a mistake of the program.
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace nereid::analysis {

/// Facts of one value; a scalar is a tile of one dimension with extent 1.
struct AxisInfo {
  struct Dim {
    int64_t contiguity = 1;   ///< in each group of this size the values go up in steps of `unit`
    int64_t divisibility = 1; ///< the first value of each such group is a multiple of this (pointers: in bytes)
    int64_t constancy = 1;    ///< in each group of this size all values are equal
    bool operator==(const Dim &) const = default;
  };
  llvm::SmallVector<Dim, 2> dims = {Dim()};
  int64_t unit = 1;                ///< pointers: bytes of an element; integers: 1
  std::optional<int64_t> constant; ///< every value, where it is one known integer
  bool isNonNegative = false;      ///< taken as signed

  /// What the first value of each group of `size` along `dim` is a multiple of; `size` need not be a run's.
  int64_t divisibilityAt(unsigned dim, int64_t size) const;
  /// What every value is a multiple of.
  int64_t elementDivisibility() const;
  /// What holds of values of both kinds.
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);
  bool operator==(const AxisInfo &) const = default;
};

/// The largest power of two that divides `value`, limited to 2^30, which stands for 0 too.
int64_t powerOfTwoIn(int64_t value);

/// Facts of every value below an op, a function or a module: works on `tt` and `ttg`, with scf as control flow.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::Operation *root);
  /// Nothing is known of a value that was made after the analysis.
  AxisInfo of(mlir::Value value) const;

private:
  /// What was known of values from outside of a block before the block assumed more.
  using Restored = llvm::SmallVectorImpl<std::pair<mlir::Value, AxisInfo>>;
  void visitFunction(tt::FuncOp function);
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitFor(mlir::scf::ForOp loop);
  void visitWhile(mlir::scf::WhileOp loop);
  void visitBranches(mlir::Operation &op);
  void assumeHolds(mlir::Value condition, mlir::Block &block, Restored &before);
  bool joinInto(mlir::ValueRange targets, mlir::ValueRange sources);
  void assign(mlir::ValueRange targets, mlir::ValueRange sources);
  void forget(mlir::ValueRange values);
  void set(mlir::Value value, AxisInfo info);

  llvm::DenseMap<mlir::Value, AxisInfo> infos;
};

} // namespace nereid::analysis
