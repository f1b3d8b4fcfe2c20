// Rules and effects of the ops that call other libraries' functions and assembly.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"

using namespace mlir;
using namespace nereid::tt;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// What is not pure may do anything, and must be done as often as it stands there.
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
