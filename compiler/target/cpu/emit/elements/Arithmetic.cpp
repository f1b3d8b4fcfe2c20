// Emits the elements of ops that compute each element from the operands' elements at the same index.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"
#include "compiler/target/cpu/emit/nest/LaneLoop.h"
#include "compiler/target/cpu/plan/Expressions.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Folds `and` and `or` with a known truth value: emission relies on masks being visibly constant.
static Element simplifyTruth(Operation *op, ArrayRef<Element> operands) {
  if (!isa<arith::AndIOp, arith::OrIOp>(op))
    return {};
  for (unsigned index = 0; index < 2; ++index) {
    auto *truth = dyn_cast<llvm::ConstantInt>(operands[index].value);
    if (!truth || truth->getBitWidth() != 1)
      continue;
    const bool decides = isa<arith::AndIOp>(op) ? truth->isZero() : truth->isOne();
    return decides ? operands[index] : operands[1 - index];
  }
  return {};
}

/// Whether the op has one result for all lanes of a chunk, which is slow to compute and may be that of the chunk
/// before.
static bool isWorthRemembering(const NestContext &context, Operation *op, const IndexMap &map, unsigned level) {
  const bool isSlow = isa<arith::DivFOp, tt::PreciseDivFOp, tt::PreciseSqrtOp, mlir::math::SqrtOp>(op) ||
                      (isSlowFunction(op) && isMemoryEffectFree(op));
  return isSlow && op->getNumResults() == 1 && context.chunk.lanes > 1 && level == context.levels.vectorLevel() &&
         !context.chunk.isOneInactive && llvm::is_contained(map, context.nest.vectorDim);
}

/// Emits an op on scalars under the condition that its operands differ from those of the chunk before, in any bit.
static llvm::Value *emitUnlessRepeated(NestContext &context, Operation *op, ArrayRef<llvm::Value *> operands,
                                       unsigned level) {
  llvm::IRBuilder<> &ir = context.ir;
  // No value outlives the nest: undefined ones would be carried through the loop over the programs.
  auto variable = [&](llvm::Type *type, const char *name, llvm::Value *initial) {
    llvm::AllocaInst *address = context.frame.local(type, name);
    context.levels.insertAt(0);
    ir.CreateStore(initial, address);
    context.levels.insertAt(level);
    return address;
  };
  auto undefined = [&](llvm::Type *type, const char *name) {
    return variable(type, name, llvm::UndefValue::get(type));
  };
  llvm::AllocaInst *isKnown = variable(ir.getInt1Ty(), "is.known", ir.getFalse());
  llvm::Value *isRepeated = ir.CreateLoad(ir.getInt1Ty(), isKnown);
  SmallVector<std::pair<llvm::Value *, llvm::AllocaInst *>> remembered; // the operands' bits
  for (llvm::Value *operand : operands) {
    if (isa<llvm::Constant>(operand))
      continue;
    llvm::Value *bits = context.lanes.bitsOf(operand);
    llvm::AllocaInst *last = undefined(bits->getType(), "last");
    isRepeated = ir.CreateAnd(isRepeated, ir.CreateICmpEQ(ir.CreateLoad(bits->getType(), last), bits));
    remembered.emplace_back(bits, last);
  }
  llvm::AllocaInst *slot = undefined(context.lanes.typeOf(tt::elementOf(op->getResult(0).getType()), 1), "result");
  bool isEmitted = true;
  emitWhere(
      context, ir.CreateNot(isRepeated),
      [&] {
        context.frame.setLocation(op->getLoc());
        auto results = context.lanes.emit(op, operands);
        isEmitted = !results.empty();
        if (!isEmitted)
          return;
        ir.CreateStore(results.front(), slot);
        ir.CreateStore(ir.getTrue(), isKnown);
        for (auto [bits, last] : remembered)
          ir.CreateStore(bits, last);
      },
      /*isRare=*/true);
  return isEmitted ? ir.CreateLoad(slot->getAllocatedType(), slot) : nullptr;
}

static Element emitArithmetic(NestContext &context, OpResult result, const IndexMap &map, unsigned level) {
  Operation *op = result.getOwner();
  SmallVector<Element, 3> operands;
  // An op with an effect runs for each element, even where all operands are equal.
  bool isVector = context.isVector(map) && !isMemoryEffectFree(op);
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    operands.push_back(context.elements.evaluate(operand, *operandMap(result, index, map), level));
    if (!operands.back())
      return {};
    isVector |= operands.back().isVector;
  }
  if (Element simple = simplifyTruth(op, operands))
    return simple;
  if (isa<arith::SelectOp>(op)) // a known condition needs only one operand
    if (auto *truth = dyn_cast<llvm::ConstantInt>(operands[0].value))
      return truth->isOne() ? operands[1] : operands[2];
  context.levels.insertAt(level);
  context.frame.setLocation(op->getLoc());
  SmallVector<llvm::Value *, 3> values;
  for (Element operand : operands)
    values.push_back(isVector ? context.asVector(operand) : operand.value);
  if (!isVector && isWorthRemembering(context, op, map, level)) {
    llvm::Value *scalar = emitUnlessRepeated(context, op, values, level);
    return scalar ? Element{scalar, false} : Element();
  }
  auto results = context.lanes.emit(op, values);
  context.levels.restoreLocation();
  if (results.empty())
    return {};
  for (auto [other, value] : llvm::zip_equal(op->getResults(), results)) // a call is not emitted again for each result
    context.elements.remember(other, map, level, {value, isVector});
  return {results[result.getResultNumber()], isVector};
}

namespace nereid::cpu {
extern const ElementTraits arithmeticElement = {.matches = [](Operation *) { return true; }, .emit = emitArithmetic};
} // namespace nereid::cpu
