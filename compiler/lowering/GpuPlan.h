// Prints the plan of a GPU kernel: layouts of moved tiles, loop schedules, the shared-memory map, barriers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/SharedMemory.h"

#include <string>

namespace nereid::lowering {

/// The plan of a `ttg` module that is ready for emission.
std::string printPlan(mlir::ModuleOp module, const analysis::SharedMemoryPlan &shared);

} // namespace nereid::lowering
