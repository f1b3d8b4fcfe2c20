// Affine forms of a kernel's tiles, with what the launcher can check of its arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/index/AxisInfo.h"
#include "compiler/target/nvidia/passes/maps/LaunchCode.h"

#include "mlir/IR/Builders.h"

namespace nereid::nvidia {

class KernelTiles final : public analysis::AffineTiles {
public:
  explicit KernelTiles(const analysis::AxisInfoAnalysis &axisInfo) : axisInfo(axisInfo) {}

  /// The largest known power of two that divides the polynomial, at most 2^30.
  int64_t divisibility(const index::Polynomial &polynomial) const;
  /// Computes the polynomial at the builder's position, as i32; null where a scalar of it has another type.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc, const index::Polynomial &polynomial);

  /// Conditions on the arguments, each of which must not be negative, that what was asked since the last call depends
  /// on; those of remainders are found by their variables.
  llvm::SmallVector<LaunchCode> takeConditions() { return std::exchange(conditions, {}); }
  void addConditionsOf(const index::Polynomial &polynomial);

private:
  std::optional<analysis::AffineForm> ofRemainder(mlir::arith::RemSIOp op, const analysis::AffineForm &dividend,
                                                  const index::Polynomial &divisor) final;
  bool isKnownNonNegative(mlir::Value value) final;
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc, const Variable &variable);
  /// variable * scale + rest
  struct InductionTerm {
    mlir::Value variable;
    int64_t scale;
    index::Polynomial rest;
  };
  std::optional<InductionTerm> findInduction(const index::Polynomial &polynomial);

  /// A remainder of a tile's first element, which holds for the whole tile under these conditions.
  struct Remainder {
    int64_t divisibility;
    llvm::SmallVector<LaunchCode> conditions;
  };

  const analysis::AxisInfoAnalysis &axisInfo;
  llvm::SmallVector<LaunchCode> conditions;
  llvm::DenseMap<unsigned, Remainder> remainders; ///< by variable
};

} // namespace nereid::nvidia
