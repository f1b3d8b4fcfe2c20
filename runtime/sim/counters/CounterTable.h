// Shows the counters of a launch: a table with the user's lines, or JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/counters/Estimate.h"

namespace nereid::sim {

/// The counts of one line of the source.
struct CountedLine : InstructionCounts {
  std::string file;  ///< empty: the PTX
  uint32_t line = 0; ///< of the file, or of the PTX
  double tensorFlops = 0;
};
/// By file and line.
std::vector<CountedLine> countedLines(const LaunchProfile &profile);

std::string tableOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu);
std::string jsonOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu);

} // namespace nereid::sim
