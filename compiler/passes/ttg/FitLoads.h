// Chooses as many loads and stages of a loop as fit shared memory and registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/PipelinedLoads.h"

namespace nereid::ttg {

/// The memory and registers that a loop may take.
struct LoopLimits {
  unsigned sharedBytes; ///< of a CTA
  unsigned registers;   ///< 32-bit registers of a thread; ~0u: any number
  bool mayCopy;         ///< whether threads have asynchronous copies
};

/// The loads of the loop to pipeline over at most `numStages` stages; none where not even one fits. Reports at the loop
/// and its loads what is left out.
PipelinedLoads fitLoads(mlir::scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo, unsigned numStages,
                        const LoopLimits &limits);

} // namespace nereid::ttg
