// Verifies the ops that call functions of other libraries or inline assembly, and states their effects.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/PaddedTiles.h"

using namespace mlir;
using namespace nereid::tt;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// An op that is not pure may have any effect, so that it is neither moved nor erased.
static void addEffects(bool isPure, Effects &effects) {
  if (isPure)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

static Speculation::Speculatability speculatability(bool isPure) {
  return isPure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

void ExternElementwiseOp::getEffects(Effects &effects) { addEffects(getPure(), effects); }
Speculation::Speculatability ExternElementwiseOp::getSpeculatability() { return speculatability(getPure()); }

void ElementwiseInlineAsmOp::getEffects(Effects &effects) { addEffects(getPure(), effects); }
Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() { return speculatability(getPure()); }

LogicalResult ElementwiseInlineAsmOp::verify() {
  if (static_cast<int32_t>(getPackedElement()) < 1) // C2
    return emitOpError("takes ") << static_cast<int32_t>(getPackedElement()) << " elements at a time";
  return success();
}

void ElementwiseInlineAsmOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  if (!getPure())
    markExtents(*this, operands);
}
