// Finds the neutral element of a combination, and values that are zero.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/NeutralElement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;

static TypedAttr neutralFloat(Operation *combination, FloatType type) {
  const llvm::fltSemantics &format = type.getFloatSemantics();
  auto number = [&](const APFloat &value) { return FloatAttr::get(type, value); };
  if (isa<arith::AddFOp>(combination))
    return number(APFloat::getZero(format, /*Negative=*/true)); // 0 would turn -0 into 0
  if (isa<arith::MulFOp>(combination))
    return number(APFloat::getOne(format));
  // These ops drop NaN, so infinity would be the result where all elements are NaN.
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combination))
    return number(APFloat::getQNaN(format));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(combination) && APFloat::semanticsHasInf(format))
    return number(APFloat::getInf(format, isa<arith::MaximumFOp>(combination)));
  return {};
}

static TypedAttr neutralInteger(Operation *combination, IntegerType type) {
  const unsigned bits = type.getWidth();
  auto number = [&](const APInt &value) { return IntegerAttr::get(type, value); };
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(combination))
    return number(APInt::getZero(bits));
  if (isa<arith::MulIOp>(combination))
    return number(APInt(bits, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(combination))
    return number(APInt::getAllOnes(bits));
  if (isa<arith::MaxSIOp>(combination))
    return number(APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(combination))
    return number(APInt::getSignedMaxValue(bits));
  return {};
}

TypedAttr tt::neutralElement(Operation *combination) {
  const Type type = combination->getResult(0).getType();
  if (auto real = dyn_cast<FloatType>(type))
    return neutralFloat(combination, real);
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? neutralInteger(combination, integer) : TypedAttr();
}

bool tt::isPositiveZero(Value value) { return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()); }
