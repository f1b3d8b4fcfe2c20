// What ops do to global memory as other threads see it: writes, and accesses that release or acquire.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::analysis {

struct GlobalEffects {
  bool reads = false, writes = false;
  bool releases = false; ///< what was written before becomes visible
  bool acquires = false; ///< what others released becomes visible
};

/// Of an op itself, without its regions; of a call what the function does.
GlobalEffects globalEffectsOf(mlir::Operation &op);

} // namespace nereid::analysis
