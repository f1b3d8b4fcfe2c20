// When the ops of a loop run: a schedule as data, and its expansion into a loop that overlaps iterations.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <string>
#include <utility>
#include <vector>

namespace nereid::ttg {

/// Iteration j's ops of stage s run in turn j + s; the ops of a turn run in the order of the list, each for its own
/// iteration. Every op of the body but its terminator is listed.
struct LoopSchedule {
  struct Entry {
    mlir::Operation *op;
    unsigned stage;
  };
  std::vector<Entry> entries;
  unsigned lastStage = 0;

  std::string toString() const;
};

/// Whether an op may run for an iteration that does not exist: it has no effect there, or can be told so.
bool canPredicate(mlir::Operation *op);

/// Why a loop cannot be expanded by a schedule; empty where it can.
std::string reasonNotExpandable(mlir::scf::ForOp loop, const LoopSchedule &schedule);

/// The loop with its first turns before it. It has as many turns as before; in the last ones, ops of early stages run
/// for iterations that do not exist, without an effect.
mlir::scf::ForOp expandLoop(mlir::scf::ForOp loop, const LoopSchedule &schedule, mlir::RewriterBase &rewriter);

} // namespace nereid::ttg
