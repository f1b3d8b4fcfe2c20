// Plans the barriers that resolve hazards between accesses of different threads.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/SharedMemory.h"

#include "llvm/ADT/DenseSet.h"

namespace nereid::analysis {

struct BarrierPlan {
  /// Ops that need a barrier before them: what they write may still be read, or what they read was written by other
  /// threads.
  llvm::DenseSet<mlir::Operation *> needsBarrierBefore;
};

/// An op with its own buffer writes it, synchronises (by its emitter) and reads it; the plan adds the barriers between
/// ops; none between runs of an op whose warps pass nothing to others. `ttg.barrier local` counts as a barrier. One
/// thread of a CTA releases what others have written, and acquires what others read. So there is a barrier between a
/// write to global memory and an access that releases it, and between an acquiring access and the next op that may
/// read; and one between a load and a store of other threads through one argument (GlobalHazards.h). Regions of
/// different warps are planned each on its own.
BarrierPlan planBarriers(tt::FuncOp function, const SharedMemoryPlan &memory);

/// Barriers that the emitter of an op inserts between writes and reads of its own buffer.
unsigned barriersWithin(mlir::Operation *op);

} // namespace nereid::analysis
