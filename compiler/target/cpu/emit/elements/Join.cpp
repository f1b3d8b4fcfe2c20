// Emits the elements of joins: one operand's or the other's.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static Element emitJoin(NestContext &context, OpResult result, const IndexMap &map, unsigned level) {
  auto operand = [&](unsigned side) {
    return context.elements.evaluate(result.getOwner()->getOperand(side), *operandMap(result, side, map), level);
  };
  llvm::IRBuilder<> &ir = context.ir;
  const int8_t last = map.back();
  if (last < 0)
    return operand(indexOfFixed(last));
  Element left = operand(0), right = operand(1);
  if (!left || !right)
    return {};
  context.levels.insertAt(level);
  if (last == context.nest.vectorDim && context.isVector(map)) { // a chunk of two lanes
    llvm::Value *isLeft = llvm::ConstantVector::get({ir.getTrue(), ir.getFalse()});
    return {ir.CreateSelect(isLeft, context.asVector(left), context.asVector(right)), true};
  }
  const bool isVector = left.isVector || right.isVector;
  auto lanesOf = [&](Element element) { return isVector ? context.asVector(element) : element.value; };
  llvm::Value *isLeft = ir.CreateICmpEQ(context.levels.indexOf(last), ir.getInt64(0));
  llvm::Value *first = lanesOf(left), *second = lanesOf(right);
  return {ir.CreateSelect(isLeft, first, second), isVector};
}

namespace nereid::cpu {
extern const ElementTraits joinElement = {
    .matches = [](Operation *op) { return isa<tt::JoinOp>(op); }, .isRegular = false, .emit = emitJoin};
} // namespace nereid::cpu
