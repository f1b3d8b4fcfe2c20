// Schedules a loop of two chained dots so that the first one of the next iteration runs beside the second.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LoopSchedule.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

namespace nereid::nvidia {

/// Two dots of a loop's body: the second one reads what is computed from the first one's result, and adds to an
/// accumulator that the loop carries.
struct ChainedDots {
  ttng::WarpGroupDotOp first, second;
};

/// The dots of such a loop, whose other ops have no effect on memory but loads in `loads`; nothing for other loops.
std::optional<ChainedDots> findChainedDots(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Operation *> loads);

/// Ops of a loop that access a ring of buffers, in order of their iteration.
struct RingAccess {
  mlir::Operation *wait = nullptr;    ///< until the buffer is filled
  mlir::Operation *fence = nullptr;   ///< between the wait and a dot
  mlir::Operation *release = nullptr; ///< hands it back
};

/// Makes both dots asynchronous and expands the loop: an iteration starts the first dot of the next one and its own
/// second dot, then computes the next one's operand of the second while that runs. `first` and `second` are the rings
/// that the dots read.
void overlapDots(mlir::scf::ForOp loop, ChainedDots dots, RingAccess first, RingAccess second,
                             bool takesTurns, mlir::RewriterBase &rewriter);

} // namespace nereid::nvidia
