// Bounds integers, and the elements of tiles of them, from below and above.
// SPDX-License-Identifier: MIT
//
// A sum that may exceed its type has any of the type's numbers, except offsets, which do not exceed it: Wrap.h. What
// loops carry is bounded by its type and by the sign that axis info knows.
#pragma once

#include "compiler/index/AxisInfo.h"

namespace nereid::analysis {

/// Both ends are included.
struct IntegerRange {
  int64_t low = 0, high = 0;
  bool operator==(const IntegerRange &) const = default;
};

class IntegerRanges {
public:
  /// Reads the assumptions below `root`; `axes` outlives the ranges.
  IntegerRanges(mlir::Operation *root, const AxisInfoAnalysis &axes);

  /// The range of a value of an integer type of up to 64 bits, as a signed number.
  IntegerRange of(mlir::Value value);

private:
  void assumeHolds(mlir::Value condition, mlir::Block &block);
  IntegerRange compute(mlir::Value value);
  IntegerRange ofOp(mlir::Operation *op, mlir::Value value, IntegerRange whole);
  IntegerRange ofArgument(mlir::BlockArgument argument, IntegerRange whole);

  const AxisInfoAnalysis &axes;
  llvm::DenseMap<mlir::Value, IntegerRange> known;
  llvm::DenseMap<mlir::Value, IntegerRange> assumed;
};

} // namespace nereid::analysis
