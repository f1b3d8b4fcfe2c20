// Plans again how ops move tiles through shared memory, for estimates and texts.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Conversion.h"
#include "compiler/layout/SharedAccessPlan.h"

namespace nereid::lowering {

/// A tile that a load or store of a buffer moves.
struct SharedTileAccess {
  mlir::RankedTensorType tile;
  layout::SharedAccessPattern pattern;
  bool isLoad = false;
};

/// How an op accesses a tile in shared memory; nothing for an op that does not.
std::optional<SharedTileAccess> sharedTileAccess(mlir::Operation *op);

} // namespace nereid::lowering
