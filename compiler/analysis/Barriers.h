// Where threads must wait for each other before an op touches shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/SharedMemory.h"

#include "llvm/ADT/DenseSet.h"

namespace nereid::analysis {

struct BarrierPlan {
  /// Ops that a barrier must precede: what they write may still be read, or what they read was written by others.
  llvm::DenseSet<mlir::Operation *> needsBarrierBefore;
};

/// An op with a buffer of its own writes it, waits (the emitter of the op sees to that) and reads it; what the plan
/// adds is the waiting between ops. `ttg.barrier local` counts as a barrier. What one thread of a block releases,
/// others have written, and what it acquires, others read: there are barriers between a write to global memory and an
/// access that releases it, and between one that acquires and the next that may read.
BarrierPlan planBarriers(tt::FuncOp function, const SharedMemoryPlan &memory);

/// Barriers that the emitter of an op puts between what it writes to its own buffer and what it reads there.
unsigned barriersWithin(mlir::Operation *op);

} // namespace nereid::analysis
