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

/// How an expanded loop ends.
enum class LoopEnd : uint8_t {
  Predicated, ///< the trip count is unchanged: ops of early stages run without effect for iterations that do not exist
  Peeled,     ///< ops of the last stage follow the loop for the last iteration; schedules of two stages only
};

/// The reason why a loop cannot be expanded by a schedule; empty where it can.
std::string reasonNotExpandable(mlir::scf::ForOp loop, const LoopSchedule &schedule,
                                LoopEnd end = LoopEnd::Predicated);

/// The expanded loop, after its prologue. With a peeled end all three stand in a branch for the case that there is an
/// iteration.
mlir::scf::ForOp expandLoop(mlir::scf::ForOp loop, const LoopSchedule &schedule, mlir::RewriterBase &rewriter,
                            LoopEnd end = LoopEnd::Predicated);

} // namespace nereid::ttg
