// Finds loads and stores through one argument of a kernel whose threads need a barrier in between.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/GlobalHazards.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/PointerBases.h"
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

/// Whether several warps hold each element of a loaded value.
static bool isHeldBySeveralWarps(Operation &load) {
  auto tile = dyn_cast<RankedTensorType>(load.getResult(0).getType());
  return !tile || ttg::linearLayoutOf(tile).freeVariableMask(layout::kWarp) != 0;
}

SmallVector<GlobalAccess, 1> GlobalHazards::accessesOf(Operation &op) {
  // One thread reads for an atomic op, and a copy to shared memory has an order of its own.
  const std::optional<MemoryAccess> access = anyAccessOf(&op);
  const bool isLoad = isa<tt::LoadOp>(op);
  if (!access || (!isLoad && !access->isStore()) || (isLoad && ttg::numWarpsOf(&op) == 1))
    return {};
  auto [known, isNew] = bases.try_emplace(access->pointer);
  if (isNew)
    llvm::append_range(known->second, sourcesOf(access->pointer).arguments);
  const Value pointer = isLoad && isHeldBySeveralWarps(op) ? Value() : access->pointer;
  SmallVector<GlobalAccess, 1> accesses;
  for (BlockArgument base : known->second)
    accesses.push_back({base, pointer, !isLoad});
  return accesses;
}
