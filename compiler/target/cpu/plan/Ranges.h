// Ranges of integer and pointer tiles over all their elements, as expressions of scalars.
// SPDX-License-Identifier: MIT
//
// `x + i // 768 * 1280 + i % 768` is not affine over a tile, but what it can address follows from the first and the
// last `i`. What a kernel reads from memory has a range where an assertion bounds it. As in Affine.h, sums and products
// that are part of an address are assumed not to wrap: a wrapped address points to no element. What a quotient, a
// remainder or a minimum is taken of may wrap, since these bring it back.
#pragma once

#include "compiler/target/cpu/plan/Affine.h"
#include "compiler/target/cpu/plan/IndexMap.h"

#include <optional>
#include <vector>

namespace nereid::cpu {

/// Wrapped: the operand in 32 bits, which has any of their values where its range exceeds them.
enum class RangeKind : uint8_t {
  Affine,
  Sum,
  Difference,
  Product,
  Quotient,
  Remainder,
  Minimum,
  Maximum,
  Union,
  Wrapped
};

/// The smallest and the largest element of a tile, from those of the operands.
struct RangeExpr {
  RangeKind kind = RangeKind::Affine;
  std::vector<RangeExpr> operands;
  int64_t factor = 1; ///< of Sum, of the second operand; of Product, Quotient and Remainder the constant, above 0
  unsigned bits = 64; ///< that both ends need at most

  AffineForm form; ///< of Affine
  llvm::SmallVector<int64_t, 2> shape;
  /// For each dimension of the form that of the whole tile, or below 0: a prefix mask bounds both.
  IndexMap map;
};

/// The range of the pointers of a load or store, of those elements that its mask selects; nullopt where it depends on
/// values in memory without bounds, or where it would take too much arithmetic.
std::optional<RangeExpr> addressRange(AffineInfo &affineInfo, mlir::Operation *access);

/// Whether the predicate holds for every scalar that the range depends on.
bool allScalars(const RangeExpr &range, AffineInfo &affineInfo, llvm::function_ref<bool(mlir::Value)> predicate);

} // namespace nereid::cpu
