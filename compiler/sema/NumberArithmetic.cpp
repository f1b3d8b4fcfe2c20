// Arithmetic of Python's bool, int and float on compile-time values.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Numbers.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

using llvm::APFloat;
using llvm::APInt;
using llvm::DynamicAPInt;
using nereid::syntax::BinaryOperator;

namespace nereid::sema {

//--- Integers ------------------------------------------------------------------------------

/// The result, unless it exceeds the limit of integers.
static NumberResult bounded(const DynamicAPInt &integer) {
  static const DynamicAPInt limit(APInt::getOneBitSet(maxIntegerBits + 2, maxIntegerBits));
  if (integer >= limit || integer <= -limit)
    return NumberError::TooLarge;
  return Value(integer);
}

static NumberResult power(const DynamicAPInt &base, DynamicAPInt exponent) {
  if (base == 0 || base == 1)
    return Value(exponent == 0 ? DynamicAPInt(1) : base);
  if (base == -1)
    return Value::integer(exponent % 2 == 0 ? 1 : -1);
  if (exponent > int64_t{maxIntegerBits})
    return NumberError::TooLarge;
  DynamicAPInt result(1);
  for (int64_t step = 0, steps = int64_t(exponent); step < steps; ++step) {
    NumberResult next = bounded(result * base);
    if (std::holds_alternative<NumberError>(next))
      return next;
    result = *std::get<Value>(next).integer();
  }
  return Value(result);
}

static NumberResult shift(const DynamicAPInt &number, const DynamicAPInt &amount, bool toTheLeft) {
  if (amount < 0)
    return NumberError::NegativeShift;
  if (toTheLeft) {
    if (number == 0)
      return Value::integer(0);
    if (amount > int64_t{maxIntegerBits})
      return NumberError::TooLarge;
    APInt factor = APInt::getOneBitSet(maxIntegerBits + 2, static_cast<unsigned>(int64_t(amount)));
    return bounded(number * DynamicAPInt(factor));
  }
  APInt bits = exact(number);
  const unsigned shiftAmount =
      amount >= int64_t{bits.getBitWidth()} ? bits.getBitWidth() - 1 : unsigned(int64_t(amount));
  bits.ashrInPlace(shiftAmount);
  return Value(DynamicAPInt(bits.trunc(std::max(64u, bits.getSignificantBits()))));
}

static DynamicAPInt bitwise(BinaryOperator op, const DynamicAPInt &left, const DynamicAPInt &right) {
  APInt a = exact(left), b = exact(right);
  const unsigned width = std::max(a.getBitWidth(), b.getBitWidth());
  a = a.sext(width);
  b = b.sext(width);
  if (op == BinaryOperator::BitAnd)
    a &= b;
  else if (op == BinaryOperator::BitOr)
    a |= b;
  else
    a ^= b;
  return DynamicAPInt(a.trunc(std::max(64u, a.getSignificantBits())));
}

/// Correctly rounded quotient: 66 or more bits of it, the last one sticky, are rounded to double once.
static NumberResult trueDivide(const DynamicAPInt &left, const DynamicAPInt &right) {
  APInt a = exact(left).abs(), b = exact(right).abs();
  const bool isNegative = (left < 0) != (right < 0);
  const int shift = std::max(0, 66 + int(b.getActiveBits()) - int(a.getActiveBits()));
  const unsigned width = std::max(a.getBitWidth() + shift, b.getBitWidth()) + 2;
  APInt quotient, remainder;
  APInt::udivrem(a.zext(width) << shift, b.zext(width), quotient, remainder);
  if (!remainder.isZero())
    quotient.setBit(0);
  // A quad has 113 bits: room for 100 bits of the quotient, the last of them sticky.
  APFloat result(APFloat::IEEEquad());
  if (quotient.getActiveBits() > 100) {
    const unsigned extra = quotient.getActiveBits() - 100;
    const bool isSticky = quotient.countr_zero() < extra;
    quotient.lshrInPlace(extra);
    if (isSticky)
      quotient.setBit(0);
    result.convertFromAPInt(quotient, false, APFloat::rmNearestTiesToEven);
    result = scalbn(result, int(extra), APFloat::rmNearestTiesToEven);
  } else {
    result.convertFromAPInt(quotient, false, APFloat::rmNearestTiesToEven);
  }
  result = scalbn(result, -shift, APFloat::rmNearestTiesToEven);
  bool losesInfo = false;
  result.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (result.isInfinity())
    return NumberError::FloatOverflow;
  const double number = result.convertToDouble();
  return Value(isNegative ? -number : number);
}

static NumberResult combineIntegers(BinaryOperator op, const DynamicAPInt &left, const DynamicAPInt &right) {
  switch (op) {
  case BinaryOperator::Add:
    return bounded(left + right);
  case BinaryOperator::Sub:
    return bounded(left - right);
  case BinaryOperator::Mult:
    return bounded(left * right);
  case BinaryOperator::Div:
    return right == 0 ? NumberResult(NumberError::DivisionByZero) : trueDivide(left, right);
  case BinaryOperator::FloorDiv:
    return right == 0 ? NumberResult(NumberError::DivisionByZero) : NumberResult(Value(floorDiv(left, right)));
  case BinaryOperator::Mod:
    if (right == 0)
      return NumberError::DivisionByZero;
    return Value(left - floorDiv(left, right) * right);
  case BinaryOperator::LeftShift:
    return shift(left, right, true);
  case BinaryOperator::RightShift:
    return shift(left, right, false);
  case BinaryOperator::BitAnd:
  case BinaryOperator::BitOr:
  case BinaryOperator::BitXor:
    return Value(bitwise(op, left, right));
  case BinaryOperator::Pow:
  case BinaryOperator::MatMult:
    return NumberError::Unsupported;
  }
  llvm_unreachable("an operator outside BinaryOperator");
}

//--- Floats --------------------------------------------------------------------------------

/// Python's `%`: the result has the divisor's sign.
static double moduloOf(double left, double right) {
  double remainder = std::fmod(left, right);
  if (remainder == 0)
    return std::copysign(0.0, right);
  return (remainder < 0) != (right < 0) ? remainder + right : remainder;
}

/// Python's `//`, computed from the exact remainder, so that `1.0 // 0.1` is 9.0.
static double floorOf(double left, double right) {
  const double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder != 0 && (remainder < 0) != (right < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, left / right);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

static NumberResult powerOf(double base, double exponent) {
  if (base == 0 && exponent < 0)
    return NumberError::DivisionByZero;
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && std::trunc(exponent) != exponent)
    return NumberError::Unsupported; // complex in Python
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    return NumberError::FloatOverflow;
  return Value(result);
}

static NumberResult combineFloats(BinaryOperator op, double left, double right) {
  switch (op) {
  case BinaryOperator::Add:
    return Value(left + right);
  case BinaryOperator::Sub:
    return Value(left - right);
  case BinaryOperator::Mult:
    return Value(left * right);
  case BinaryOperator::Div:
    return right == 0 ? NumberResult(NumberError::DivisionByZero) : NumberResult(Value(left / right));
  case BinaryOperator::FloorDiv:
    return right == 0 ? NumberResult(NumberError::DivisionByZero) : NumberResult(Value(floorOf(left, right)));
  case BinaryOperator::Mod:
    return right == 0 ? NumberResult(NumberError::DivisionByZero) : NumberResult(Value(moduloOf(left, right)));
  case BinaryOperator::Pow:
    return powerOf(left, right);
  case BinaryOperator::LeftShift:
  case BinaryOperator::RightShift:
  case BinaryOperator::BitAnd:
  case BinaryOperator::BitOr:
  case BinaryOperator::BitXor:
  case BinaryOperator::MatMult:
    return NumberError::Unsupported;
  }
  llvm_unreachable("an operator outside BinaryOperator");
}

NumberResult combineNumbers(BinaryOperator op, const Value &left, const Value &right) {
  if (left.is<bool>() && right.is<bool>()) {
    const bool a = *left.get<bool>(), b = *right.get<bool>();
    if (op == BinaryOperator::BitAnd)
      return Value(a && b);
    if (op == BinaryOperator::BitOr)
      return Value(a || b);
    if (op == BinaryOperator::BitXor)
      return Value(a != b);
  }
  if (!left.is<double>() && !right.is<double>()) {
    const DynamicAPInt a = integerOf(left), b = integerOf(right);
    if (op != BinaryOperator::Pow)
      return combineIntegers(op, a, b);
    if (b >= 0)
      return power(a, b);
  }
  const std::optional<double> a = doubleOf(left), b = doubleOf(right);
  if (!a || !b)
    return NumberError::FloatOverflow;
  return combineFloats(op, *a, *b);
}

} // namespace nereid::sema
