// Adds up the work of one program of a launch, by the costs of its ops.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/ScalarValues.h"
#include "compiler/explain/Explanation.h"
#include "compiler/lowering/gpu/Explainer.h"

#include <iterator>

namespace nereid::lowering {

/// What a target knows of the costs of its ops.
class OpCostModel {
public:
  virtual ~OpCostModel() = default;
  virtual OpCost of(mlir::Operation *op) const = 0;
  /// Whether the op only starts work that a later op waits for.
  virtual bool isAsync(mlir::Operation *op) const = 0;
};

/// Cycles of an iteration by its schedule, for each innermost loop; 0 where it has none.
using IterationCycles = llvm::DenseMap<mlir::Operation *, uint64_t>;

/// Cycles are those of a multiprocessor.
struct ProgramWork {
  std::array<double, std::size(explain::kUnits)> busy{}; ///< by unit, in the order of kUnits
  double cycles = 0; ///< of a program that has the multiprocessor for itself: with all that it waits for
  double bytes = 0;  ///< to and from global memory

  /// The same work `times` over.
  ProgramWork repeated(double times) const;
  void add(const ProgramWork &other);
};

/// Counts for one program of a launch, whose scalars are `values`.
class WorkCounter {
public:
  /// `latency` is that of an access to memory. Each iteration of an innermost loop takes `spillCycles` more; so does
  /// a program without loops.
  WorkCounter(const OpCostModel &costs, const IterationCycles &iterations, analysis::ScalarValues &values,
              double latency, double spillCycles)
      : costs(costs), iterations(iterations), values(values), latency(latency), spillCycles(spillCycles) {}

  ProgramWork of(mlir::Block &block);

private:
  ProgramWork ofOp(mlir::Operation *op);
  ProgramWork ofLoop(mlir::scf::ForOp loop);
  ProgramWork ofLoop(mlir::scf::WhileOp loop);
  void useSchedule(mlir::Operation *loop, double trips, ProgramWork &work) const;
  ProgramWork ofBranch(mlir::scf::IfOp branch);
  ProgramWork ofRoles(ttg::WarpSpecializeOp op);
  ProgramWork ofSimple(mlir::Operation *op);

  const OpCostModel &costs;
  const IterationCycles &iterations;
  analysis::ScalarValues &values;
  const double latency, spillCycles;
};

} // namespace nereid::lowering
