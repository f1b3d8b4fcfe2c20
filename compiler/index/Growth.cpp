// Derives the growth of scalars from the arithmetic that computes them.
// SPDX-License-Identifier: MIT
#include "compiler/index/Growth.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

static constexpr unsigned kMostOps = 64;

Growth::Growth(AffineInfo &affineInfo, tt::FuncOp kernel) : affineInfo(affineInfo) {
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> waiting;
  kernel.walk([&](tt::GetProgramIdOp op) {
    if (isCounter(op))
      waiting.push_back(op);
  });
  // The results of an op in the kernel's body, or of the loop or branch that contains the op, and all that use them.
  while (!waiting.empty())
    for (Value result : body.findAncestorOpInBlock(*waiting.pop_back_val())->getResults())
      if (dependent.insert(result).second)
        llvm::append_range(waiting, result.getUsers());
}

bool Growth::isCounter(Value value) {
  if (loop)
    return value == loop.getInductionVar();
  auto id = value.getDefiningOp<tt::GetProgramIdOp>();
  return id && static_cast<int>(id.getAxis()) == 0;
}

bool Growth::isInvariant(Value value) { return loop ? loop.isDefinedOutsideOfLoop(value) : !dependent.contains(value); }

/// The value, the same for all elements, where it does not change.
std::optional<Polynomial> Growth::invariant(Value value) {
  const AffineForm *form = affineInfo.affine(value);
  const bool isFixed = form && !form->base && form->isUniform() && form->start.allVariables([&](unsigned index) {
    const AffineInfo::Variable &variable = affineInfo.variable(index);
    return variable.loop ? variable.loop->isProperAncestor(loop) : isInvariant(variable.value);
  });
  return isFixed ? std::optional(form->start) : std::nullopt;
}

/// The sum of what an iteration adds to what it is given.
std::optional<Polynomial> Growth::ofCarried(BlockArgument argument) {
  if (!loop || argument.getOwner() != loop.getBody())
    return std::nullopt;
  Value value = loop.getTiedLoopYieldedValue(argument)->get();
  Polynomial total;
  for (unsigned ops = 0; value != argument; ++ops) {
    Operation *op = value.getDefiningOp();
    if (ops > kMostOps || !isa_and_nonnull<arith::AddIOp, tt::AddPtrOp>(op))
      return std::nullopt;
    const unsigned before = isInvariant(op->getOperand(0)) ? 1 : 0;
    const std::optional<Polynomial> step = invariant(op->getOperand(1 - before));
    auto sum = step ? total.plus(*step, isa<tt::AddPtrOp>(op) ? bytesOfPointee(value) : 1) : std::nullopt;
    if (!sum)
      return std::nullopt;
    total = std::move(*sum);
    value = op->getOperand(before);
  }
  return total;
}

std::optional<Polynomial> Growth::of(Value value, unsigned depth) {
  if (isInvariant(value))
    return Polynomial();
  if (isCounter(value))
    return loop ? invariant(loop.getStep()) : Polynomial::ofConstant(1);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofCarried(argument);
  Operation *op = value.getDefiningOp();
  if (depth > kMostOps)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return of(op->getOperand(0), depth + 1);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, tt::AddPtrOp>(op))
    return std::nullopt;
  const std::optional<Polynomial> left = of(op->getOperand(0), depth + 1), right = of(op->getOperand(1), depth + 1);
  if (!left || !right)
    return std::nullopt;
  if (isa<tt::AddPtrOp>(op))
    return left->plus(*right, bytesOfPointee(value));
  if (!isa<arith::MulIOp>(op))
    return left->plus(*right, isa<arith::SubIOp>(op) ? -1 : 1);
  if (!left->isZero() && !right->isZero())
    return std::nullopt;
  const std::optional<Polynomial> factor = invariant(op->getOperand(left->isZero() ? 0 : 1));
  return factor ? (left->isZero() ? right : left)->times(*factor) : std::nullopt;
}

std::optional<Polynomial> Growth::of(const AffineForm &form) {
  std::optional<Polynomial> sum = of(form.base);
  for (const Polynomial::Term &term : form.start.terms()) {
    std::optional<Polynomial> product = Polynomial::ofConstant(term.coefficient);
    bool isMoving = false;
    for (unsigned variable : term.factors) {
      const std::optional<Polynomial> growth = of(affineInfo.valueOf(variable));
      if (!growth || (isMoving && !growth->isZero()))
        return std::nullopt;
      isMoving |= !growth->isZero();
      product = product ? product->times(growth->isZero() ? Polynomial::ofVariable(variable) : *growth) : std::nullopt;
    }
    if (isMoving && sum)
      sum = product ? sum->plus(*product) : std::nullopt;
  }
  return sum;
}
