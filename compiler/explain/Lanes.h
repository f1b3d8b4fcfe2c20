// Groups the bars of a timeline by role and unit, for drawing.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/explain/Timeline.h"

namespace nereid::explain {

/// One row of a drawing.
struct Lane {
  std::string role;
  Unit unit = Unit::None;
  std::vector<Bar> bars;
};

/// An op of a loop that is drawn; equal labels of one line share a mark.
struct Mark {
  unsigned line = 0;
  std::string label;
  Unit unit = Unit::None;
};

struct Drawing {
  Timeline timeline;
  std::vector<Lane> lanes; ///< by role, then unit; none is empty
  std::vector<Mark> marks; ///< in order of their first bar

  /// The index in `marks`.
  size_t markOf(const LoopOp &op) const;
};

Drawing drawingOf(const Loop &loop, const std::vector<Role> &roles);

} // namespace nereid::explain
