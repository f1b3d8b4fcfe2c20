// Computes when each buffer of a plan holds elements that are read later.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/LoopPlan.h"

namespace nereid::cpu {

/// Step numbers in program order, both ends included.
struct LiveRange {
  unsigned first = ~0u;
  unsigned last = 0;

  void add(LiveRange other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool contains(LiveRange other) const { return first <= other.first && other.last <= last; }
  bool overlaps(LiveRange other) const { return first <= other.last && other.first <= last; }
};

/// The live range of each buffer.
std::vector<LiveRange> liveRangesOf(const LoopPlan &plan, AffineInfo &affineInfo);

} // namespace nereid::cpu
