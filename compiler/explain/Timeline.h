// Places the ops of a loop over time: a bar for each on the lane of its unit.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/explain/Explanation.h"

namespace nereid::explain {

/// The time that one op of one iteration keeps its unit busy.
struct Bar {
  unsigned part = 0, op = 0; ///< indices in the loop
  unsigned iteration = 0;    ///< of the loop that issues it; counted from the first one shown
  uint64_t begin = 0, end = 0;
};

struct Timeline {
  uint64_t cycles = 0; ///< that are shown
  uint64_t cyclesPerIteration = 0;
  std::vector<Bar> bars;      ///< clipped to the time shown
  std::vector<uint64_t> busy; ///< cycles of an iteration by unit, in the order of kUnits
};

/// Cycles from the start of a copy of global memory until its first bytes arrive.
inline constexpr uint64_t kCopyLatency = 500;
/// Iterations that a timeline shows.
inline constexpr unsigned kShownIterations = 2;

/// Issues the ops of each part in order, over several iterations, and shows the last of them: waits take as long as
/// what they wait for. Units serve one op at a time. Other CTAs of the multiprocessor are left out.
Timeline timelineOf(const Loop &loop);

} // namespace nereid::explain
