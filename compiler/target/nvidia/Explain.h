// Explains a GPU kernel that is ready for emission: what its ops do for each line, and the schedules of its loops.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/gpu/Explainer.h"
#include "compiler/target/nvidia/CudaTarget.h"
#include "compiler/target/nvidia/OpCost.h"

namespace nereid::nvidia {

explain::Explanation explainKernel(const CudaKernel &kernel);

/// Cycles of an iteration by its schedule, for each innermost loop; 0 where it has none.
lowering::IterationCycles iterationCycles(const CudaKernel &kernel, const OpCosts &costs);

/// Adds the schedules of the innermost loops. A loop of one line in several roles is one loop with several parts.
void explainLoops(const CudaKernel &kernel, const OpCosts &costs, explain::Explanation &explanation);

} // namespace nereid::nvidia
