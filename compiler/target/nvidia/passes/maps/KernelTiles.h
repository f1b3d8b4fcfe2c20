// Affine forms of a kernel's tiles, with what the launcher can check of its arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/index/AxisInfo.h"
#include "compiler/target/nvidia/passes/maps/LaunchCode.h"

#include "mlir/IR/Builders.h"

namespace nereid::nvidia {

class KernelTiles {
public:
  explicit KernelTiles(const index::AxisInfoAnalysis &axisInfo) : axisInfo(axisInfo) {}

  /// The form of an integer or pointer, or of a tile of them; null where it has none, or where a remainder may wrap.
  const index::AffineForm *of(mlir::Value value);
  /// A comparison as a prefix of one dimension of its tile; null where it is none.
  const index::PrefixMask *prefix(mlir::Value mask) { return info.prefix(mask); }
  const index::AffineInfo &affine() const { return info; }

  /// Whether the polynomial is not negative wherever its variables have their values.
  bool isNonNegative(const index::Polynomial &polynomial);
  /// The largest known power of two that divides the polynomial, at most 2^30.
  int64_t divisibility(const index::Polynomial &polynomial) const;
  /// Computes the polynomial at the builder's position, as i32; null where a scalar of it has another type.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc, const index::Polynomial &polynomial);

  /// Conditions on the arguments, each of which must not be negative, that what was asked since the last call depends
  /// on; those of remainders are found by their variables.
  llvm::SmallVector<LaunchCode> takeConditions() { return std::exchange(conditions, {}); }
  void addConditionsOf(const index::Polynomial &polynomial);

private:
  /// The remainder of a tile's first element, which holds for the whole tile under these conditions.
  struct CheckedRemainder {
    mlir::Value value;
    int64_t divisibility;
    llvm::SmallVector<LaunchCode> conditions;
  };
  std::optional<CheckedRemainder> check(const index::AffineInfo::Variable &variable);
  bool holds(unsigned assumption);
  bool isNonNegative(mlir::Value value);
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc, unsigned variable);
  /// variable * scale + rest
  struct InductionTerm {
    mlir::Value variable;
    int64_t scale;
    index::Polynomial rest;
  };
  std::optional<InductionTerm> findInduction(const index::Polynomial &polynomial);

  const index::AxisInfoAnalysis &axisInfo;
  index::AffineInfo info{index::AffineInfo::Scalars::TakenApart};
  llvm::SmallVector<LaunchCode> conditions;
  llvm::DenseMap<unsigned, std::optional<CheckedRemainder>> remainders; ///< by variable
};

} // namespace nereid::nvidia
