// Derives the growth of scalars from the arithmetic that computes them.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Growth.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

std::optional<Poly> Growth::of(Value value, unsigned depth) {
  if (isInvariant(value))
    return Poly();
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
  const std::optional<Poly> left = of(op->getOperand(0), depth + 1), right = of(op->getOperand(1), depth + 1);
  if (!left || !right)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *left + *right;
  if (isa<arith::SubIOp>(op))
    return *left - *right;
  if (isa<arith::MulIOp>(op))
    return ofMultiplication(op, *left, *right);
  return *left + *right * bytesOf(op);
}

std::optional<Poly> Growth::of(const AffineForm &form) {
  std::optional<Poly> sum = of(form.pointer);
  for (const Poly::Term &term : form.base.terms()) {
    Poly product = Poly::constant(term.coefficient);
    bool isMoving = false;
    for (SymbolId symbol : term.factors) {
      const std::optional<Poly> growth = of(affineInfo.valueOf(symbol));
      if (!growth || (isMoving && !growth->isZero()))
        return std::nullopt;
      isMoving |= !growth->isZero();
      product = product * (growth->isZero() ? Poly::symbol(symbol) : *growth);
    }
    if (isMoving && sum)
      sum = *sum + product;
  }
  return sum;
}

Poly Growth::bytesOf(Operation *addPtr) {
  const Type pointee = cast<tt::PointerType>(addPtr->getResult(0).getType()).getPointee();
  return Poly::constant(storageBytes(pointee));
}

std::optional<Poly> Growth::invariant(Value value) {
  const AffineForm *form = affineInfo.affine(value);
  if (!form)
    return std::nullopt;
  for (const Poly::Term &term : form->base.terms())
    for (SymbolId symbol : term.factors)
      if (!isInvariant(affineInfo.valueOf(symbol)))
        return std::nullopt;
  return form->base;
}

std::optional<Poly> Growth::ofMultiplication(Operation *op, const Poly &left, const Poly &right) {
  const bool isLeft = right.isZero();
  if (!isLeft && !left.isZero())
    return std::nullopt;
  const std::optional<Poly> factor = invariant(op->getOperand(isLeft ? 1 : 0));
  return factor ? std::optional((isLeft ? left : right) * *factor) : std::nullopt;
}
