// States the scratch memory of atomic accesses and relates their layouts.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/AccessRelation.h"
#include "compiler/dialect/ttg/OwnersResults.h"
#include "compiler/dialect/ttg/TtOpRules.h"
#include "compiler/layout/Swizzle.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Whether threads of other warps, or lanes whose copies are in other registers, need the result of an access.
static bool sharesCopies(const layout::LinearLayout &layout) {
  const uint32_t lanes = layout.freeVariableMask(layout::kLane);
  for (unsigned bit = 0; bit < layout.inBits(layout::kLane); ++bit)
    if ((lanes >> bit & 1) && layout.columns(layout::kLane)[bit])
      return true;
  return layout.freeVariableMask(layout::kWarp) != 0;
}

uint32_t ttg::bytesForOwnersResults(RankedTensorType tile) {
  const layout::LinearLayout &layout = linearLayoutOf(tile);
  return sharesCopies(layout) ? layout::planCopies(layout, tt::memoryBits(tt::elementOf(tile))).bytes : 0;
}

/// The owner of each element passes the old value to the threads with copies.
static uint32_t bytesForCopies(tt::MemoryAccessOpInterface access) {
  const Type pointer = access.getAccessedPointer().getType();
  Type element = tt::elementOf(tt::pointeeLike(pointer));
  auto tile = dyn_cast<RankedTensorType>(pointer);
  if (access->use_empty() || (tile && !encodingOf(tile)))
    return 0;
  if (!tile)
    return numWarpsOf(access) > 1 ? tt::storageBytes(element) : 0;
  return bytesForOwnersResults(cast<RankedTensorType>(tt::pointeeLike(pointer)));
}

namespace {
template <typename Op> struct AtomicScratch : ScratchOpInterface::ExternalModel<AtomicScratch<Op>, Op> {
  Scratch getScratch(Operation *op) const {
    const uint32_t bytes = bytesForCopies(cast<tt::MemoryAccessOpInterface>(op));
    return Scratch::writtenOnce(bytes);
  }
};
} // namespace

template <typename... Ops> static void addRules(MLIRContext *context) {
  (Ops::template attachInterface<AccessRelation<Ops>, AtomicScratch<Ops>>(*context), ...);
}

void ttg::addAtomicRules(MLIRContext *context) {
  addRules<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(context);
}
