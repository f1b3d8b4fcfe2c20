// Derives the growth of scalars from the arithmetic that computes them.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Growth.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

std::optional<Polynomial> Growth::of(Value value, unsigned depth) {
  if (isInvariant(value))
    return Polynomial();
  if (isCounter(value))
    return step();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  if (depth > maxDepth)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return of(op->getOperand(0), depth + 1);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, tt::AddPtrOp>(op))
    return std::nullopt;
  const std::optional<Polynomial> left = of(op->getOperand(0), depth + 1), right = of(op->getOperand(1), depth + 1);
  if (!left || !right)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return left->plus(*right);
  if (isa<arith::SubIOp>(op))
    return left->plus(*right, -1);
  if (isa<arith::MulIOp>(op))
    return ofMultiplication(op, *left, *right);
  return left->plus(*right, bytesOf(op));
}

std::optional<Polynomial> Growth::of(const AffineForm &form) {
  std::optional<Polynomial> sum = of(form.base);
  for (const Polynomial::Term &term : form.start.terms()) {
    Polynomial product = Polynomial::ofConstant(term.coefficient);
    bool isMoving = false;
    for (unsigned variable : term.factors) {
      const std::optional<Polynomial> growth = of(affineInfo.valueOf(variable));
      if (!growth || (isMoving && !growth->isZero()))
        return std::nullopt;
      isMoving |= !growth->isZero();
      auto longer = product.times(growth->isZero() ? Polynomial::ofVariable(variable) : *growth);
      if (!longer)
        return std::nullopt;
      product = std::move(*longer);
    }
    if (isMoving && sum)
      sum = sum->plus(product);
  }
  return sum;
}

int64_t Growth::bytesOf(Operation *addPtr) { return bytesOfPointee(addPtr->getResult(0)); }

std::optional<Polynomial> Growth::invariant(Value value) {
  const AffineForm *form = affineInfo.affine(value);
  if (!form)
    return std::nullopt;
  if (!affineInfo.allScalars(form->start, [&](Value scalar) { return isInvariant(scalar); }))
    return std::nullopt;
  return form->start;
}

std::optional<Polynomial> Growth::ofMultiplication(Operation *op, const Polynomial &left, const Polynomial &right) {
  const bool isLeft = right.isZero();
  if (!isLeft && !left.isZero())
    return std::nullopt;
  const std::optional<Polynomial> factor = invariant(op->getOperand(isLeft ? 1 : 0));
  return factor ? (isLeft ? left : right).times(*factor) : std::nullopt;
}
