// Bounds integers, and the elements of tiles of them, from below and above.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace nereid::index {

/// Signed; both ends are included.
struct IntegerRange {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();

  /// All numbers of a type, or of the elements of a tile; of 64 bits for pointers and `index`.
  static IntegerRange whole(mlir::Type type);
  IntegerRange join(IntegerRange other) const { return {std::min(low, other.low), std::max(high, other.high)}; }
  /// What of it is in `other`; the nearest number there where nothing is.
  IntegerRange within(IntegerRange other) const;
  /// What of it compares so with `bound`; all of it where nothing does.
  IntegerRange where(mlir::arith::CmpIPredicate predicate, int64_t bound) const;
  bool operator==(const IntegerRange &) const = default;
};

/// The range of an op's results, were its type unbounded; nothing where the operands tell nothing.
std::optional<IntegerRange> rangeOf(mlir::Operation *op, llvm::ArrayRef<IntegerRange> operands);

} // namespace nereid::index
