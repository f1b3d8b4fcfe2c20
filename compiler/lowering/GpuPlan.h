// The plan of a kernel for GPUs as text: layouts of what moves, turns of loops, the map of shared memory, barriers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/SharedMemory.h"

#include <string>

namespace nereid::lowering {

/// Of a module of `ttg` that is ready to be emitted.
std::string printPlan(mlir::ModuleOp module, const analysis::SharedMemoryPlan &shared);

} // namespace nereid::lowering
