// Counts what a loop takes of a thread's registers, of 32 bits each.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/PipelinedLoads.h"

namespace nereid::ttg {

/// The registers that tiles and carried pointers take throughout the loop, with the largest result of a dot.
unsigned registersOfLoop(mlir::scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo);

/// The registers of the tiles that are loaded for later iterations.
unsigned registersInFlight(const PipelinedLoads &pipelined);

/// The load with the smallest tile in flight of at least that many registers, else the one with the largest; null where
/// no tile is in flight. Loads that others need for their addresses stay.
mlir::Operation *leastToLeaveOut(const PipelinedLoads &pipelined, unsigned registers);

} // namespace nereid::ttg
