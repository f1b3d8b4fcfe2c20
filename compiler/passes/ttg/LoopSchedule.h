// Declares the schedule of a loop's ops, and its expansion into a loop that overlaps iterations.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <string>
#include <utility>
#include <vector>

namespace nereid::ttg {

/// The ops of stage s of iteration j run in iteration j + s of the new loop, where ops run in the order of the list,
/// each for its own iteration j. Every op of the body but its terminator is listed.
struct LoopSchedule {
  struct Entry {
    mlir::Operation *op;
    unsigned stage;
  };
  std::vector<Entry> entries;
  unsigned lastStage = 0;

  std::string toString() const;
};

/// Whether an op may run for an iteration that does not exist: it has no effects, or takes a predicate.
bool canPredicate(mlir::Operation *op);

/// The reason why a loop cannot be expanded by a schedule; empty where it can.
std::string reasonNotExpandable(mlir::scf::ForOp loop, const LoopSchedule &schedule);

/// The expanded loop, after its prologue. Its trip count is unchanged; in the last iterations, ops of early stages run
/// without effect for iterations that do not exist.
mlir::scf::ForOp expandLoop(mlir::scf::ForOp loop, const LoopSchedule &schedule, mlir::RewriterBase &rewriter);

} // namespace nereid::ttg
