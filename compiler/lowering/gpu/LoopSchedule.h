// Describes the iterations of loops op by op: the work of each, and what it waits for.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/gpu/ProgramWork.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::lowering {

class LoopDescription;

/// Adds an op of the target's own; false for other ops.
using OwnOps = llvm::function_ref<bool(mlir::Operation *op, LoopDescription &description)>;

/// The ops of one loop, in all roles.
class LoopDescription {
public:
  LoopDescription(const OpCostModel &costs, explain::Loop &loop) : costs(costs), loop(loop) {}

  /// The loop `op` as one role runs it.
  void addPart(mlir::Operation *op, unsigned role, OwnOps addOwn);
  /// Adds the op's time; that of neighbours of one line and unit is added up.
  void addWork(mlir::Operation *op, explain::Action action);
  void act(explain::Action action, unsigned number, unsigned barrier = 0);
  /// The index of the allocation that a barrier is in.
  unsigned barrierOf(mlir::Value barrier);
  /// Completes what can be said of barriers when all parts are known.
  void finish();

private:
  void addOp(mlir::Operation *op);

  const OpCostModel &costs;
  explain::Loop &loop;
  llvm::MapVector<mlir::Value, unsigned> barriers; ///< by allocation
};

/// The loops of one line, in different roles, and their iteration.
struct DescribedLoop {
  explain::Position at;
  llvm::SmallVector<mlir::Operation *> loops;
  explain::Loop iteration = {};
};

/// The innermost loops of a module.
llvm::SmallVector<DescribedLoop> describeLoops(mlir::ModuleOp module, const OpCostModel &costs, OwnOps addOwn);
IterationCycles iterationCycles(mlir::ModuleOp module, const OpCostModel &costs, OwnOps addOwn);

} // namespace nereid::lowering
