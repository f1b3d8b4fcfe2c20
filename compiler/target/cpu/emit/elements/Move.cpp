// Emits the elements of ops that move one operand's elements unchanged: splat, broadcast, trans, reshape, split and
// their like.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static Element emitMoved(NestContext &context, OpResult result, const IndexMap &map, unsigned level) {
  return context.elements.evaluate(result.getOwner()->getOperand(0), *operandMap(result, 0, map), level);
}

namespace nereid::cpu {
extern const ElementTraits movedElement = {
    .matches = [](Operation *op) { return isa<tt::ElementMapOpInterface>(op) && op->getNumOperands() == 1; },
    .emit = emitMoved};
} // namespace nereid::cpu
