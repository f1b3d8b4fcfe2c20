// Classifies what ops do to global memory as seen by other threads: writes, releases, acquires.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::analysis {

struct GlobalEffects {
  bool reads = false, writes = false;
  bool copies = false;   ///< starts to read asynchronously: its wait and the barriers of its buffer order the end
  bool releases = false; ///< earlier writes become visible to others
  bool acquires = false; ///< writes released by others become visible
};

/// The effects of an op without its regions; for a call, those of the function.
GlobalEffects globalEffectsOf(mlir::Operation &op);

} // namespace nereid::analysis
