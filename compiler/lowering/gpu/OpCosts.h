// Estimates which unit of a multiprocessor an op of `ttg` keeps busy, and how long.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/lowering/gpu/ProgramWork.h"

namespace nereid::lowering {

/// Per cycle of a multiprocessor.
struct UnitRates {
  unsigned globalBytes; ///< its part of L2's bandwidth
  unsigned fma;         ///< of f32; other simple instructions alike
  unsigned special;     ///< exponentials, logarithms, roots
  unsigned warpThreads; ///< of one instruction
};

/// Costs of the ops of a module that is ready for emission. A target adds its dots and its own ops.
class OpCosts : public OpCostModel {
public:
  OpCosts(mlir::ModuleOp module, const UnitRates &rates) : rates(rates), axes(module) {}

  OpCost of(mlir::Operation *op) const final;
  bool isAsync(mlir::Operation *op) const override;
  const index::AxisInfoAnalysis &axisInfo() const { return axes; }

protected:
  virtual OpCost ofDot(tt::DotOpInterface dot) const = 0;
  /// Nothing for ops that all GPUs have.
  virtual std::optional<OpCost> ofOwn(mlir::Operation *) const { return std::nullopt; }

  const UnitRates rates;

private:
  OpCost ofAccess(const analysis::MemoryAccess &access) const;
  OpCost ofShared(mlir::Operation *op) const;

  const index::AxisInfoAnalysis axes;
};

} // namespace nereid::lowering
