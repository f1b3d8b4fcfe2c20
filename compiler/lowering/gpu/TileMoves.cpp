// Calls the layout planners with the types of ops.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/TileMoves.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static SharedTileAccess planAccess(RankedTensorType tile, Value of, bool isLoad) {
  auto buffer = cast<ttg::MemDescType>(of.getType());
  if (auto matrices = isLoad ? matrixPatternOf(tile, buffer) : std::nullopt)
    return {tile, *matrices, isLoad};
  return {tile, accessPatternOf(tile, buffer), isLoad};
}

std::optional<SharedTileAccess> lowering::sharedTileAccess(Operation *op) {
  if (auto load = dyn_cast<ttg::LocalLoadOp>(op))
    return planAccess(cast<RankedTensorType>(load.getType()), load.getSrc(), true);
  if (auto store = dyn_cast<ttg::LocalStoreOp>(op))
    return planAccess(cast<RankedTensorType>(store.getSrc().getType()), store.getDst(), false);
  if (auto allocation = dyn_cast<ttg::LocalAllocOp>(op); allocation && allocation.getSrc())
    return planAccess(cast<RankedTensorType>(allocation.getSrc().getType()), allocation.getResult(), false);
  return std::nullopt;
}
