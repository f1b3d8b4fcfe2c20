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

/// Ops of a loop's body that access a multi-buffered allocation.
struct BufferAccess {
  mlir::Value buffers;                ///< the allocation
  mlir::Operation *wait = nullptr;    ///< until the buffer is filled
  mlir::Operation *release = nullptr; ///< hands back a buffer
};

/// Makes both dots asynchronous and rotates the loop: an iteration starts the first dot of the next one and its own
/// second dot; the next one computes its operand of the second while that runs. `first` and `second` are the
/// allocations that the dots read. The first one's `release` is for the buffer of its iteration, the second one's for
/// that of the iteration before.
void overlapDots(mlir::scf::ForOp loop, ChainedDots dots, BufferAccess first, BufferAccess second,
                 mlir::RewriterBase &rewriter);

} // namespace nereid::nvidia
