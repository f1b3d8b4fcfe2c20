// Groups bars by role and unit.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Lanes.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;
using namespace nereid::explain;

size_t Drawing::markOf(const LoopOp &op) const {
  return llvm::find_if(marks, [&](const Mark &mark) { return mark.line == op.line && mark.label == op.label; }) -
         marks.begin();
}

Drawing explain::drawingOf(const Loop &loop, const std::vector<Role> &roles) {
  Drawing drawing;
  drawing.timeline = timelineOf(loop);
  for (auto [index, part] : llvm::enumerate(loop.parts))
    for (Unit unit : kUnits) {
      Lane lane{roles[part.role].name, unit, {}};
      for (const Bar &bar : drawing.timeline.bars)
        if (bar.part == index && part.ops[bar.op].unit == unit)
          lane.bars.push_back(bar);
      if (lane.bars.empty())
        continue;
      for (const Bar &bar : lane.bars)
        if (const LoopOp &op = part.ops[bar.op]; drawing.markOf(op) == drawing.marks.size())
          drawing.marks.push_back({op.line, op.label, unit});
      drawing.lanes.push_back(std::move(lane));
    }
  return drawing;
}
