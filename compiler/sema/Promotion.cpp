// Finds the element type in which two operands are computed.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Numbers.h"
#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {
namespace {

/// C's rule for integers of different sign; bool counts as unsigned.
Scalar promoteIntegers(Scalar left, Scalar right) {
  if (isSignedInteger(left) == isSignedInteger(right))
    return bitsOf(left) > bitsOf(right) ? left : right;
  const Scalar unsignedSide = isSignedInteger(left) ? right : left;
  const Scalar signedSide = isSignedInteger(left) ? left : right;
  return bitsOf(unsignedSide) >= bitsOf(signedSide) ? unsignedSide : signedSide;
}

/// Floats of at most 16 bits are divided as fp32.
Scalar widenQuotient(Scalar scalar, bool divides) {
  const bool isNarrow = isFp8(scalar) || scalar == Scalar::Float16 || scalar == Scalar::BFloat16;
  return divides && isNarrow ? Scalar::Float32 : scalar;
}

/// The common type where one of the two is a float; nothing for an fp8 beside an integer: Triton has no rule for it.
std::optional<Scalar> promoteFloats(Scalar left, Scalar right, bool divides) {
  for (Scalar scalar : {Scalar::Float64, Scalar::Float32, Scalar::Float16})
    if (left == scalar || right == scalar)
      return widenQuotient(scalar, divides);
  if (left == right)
    return widenQuotient(left, divides);
  // With an integer or a narrower float beside a bf16, fp32 is more precise.
  if (left == Scalar::BFloat16 || right == Scalar::BFloat16)
    return Scalar::Float32;
  if (isFp8(left) && isFp8(right))
    return widenQuotient(Scalar::Float16, divides);
  return std::nullopt;
}

/// The type of an operand, and whether it is a Python number rather than a tensor.
struct Operand {
  Scalar scalar;
  bool isNumber;
};

/// void < bool < integer < float.
static artifact::ElementKind rankOf(Scalar scalar) {
  return isUnsignedInteger(scalar) && scalar != Scalar::Int1 ? artifact::ElementKind::Signed : infoOf(scalar).kind;
}

std::optional<Scalar> promote(Operand left, Operand right, bool divides) {
  if (left.isNumber != right.isNumber) {
    const Scalar number = left.isNumber ? left.scalar : right.scalar;
    const Scalar tensor = left.isNumber ? right.scalar : left.scalar;
    if (rankOf(number) <= rankOf(tensor))
      return widenQuotient(tensor, divides);
  }
  if (isFloating(left.scalar) || isFloating(right.scalar))
    return promoteFloats(left.scalar, right.scalar, divides);
  return promoteIntegers(left.scalar, right.scalar);
}

bool isNegative(const Value &value) { return value.isNumber() && compareNumbers(value, Value::integer(0)) < 0; }

/// The element type of a number or a tensor; nothing after an error.
std::optional<Type> elementTypeOf(TtFunctionEmitter &emitter, const Value &value, SourceRange range) {
  if (const TensorValue *tensor = value.tensor())
    return tensor->type.element();
  if (value.isPoison())
    return std::nullopt;
  if (!value.isNumber()) {
    notATensor(emitter, value, range);
    return std::nullopt;
  }
  std::optional<Scalar> scalar = naturalScalar(value);
  if (!scalar) {
    emitter.error(diag::IntegerTooWide, range, value.repr());
    return std::nullopt;
  }
  return Type(*scalar);
}

/// Pointers combine only with pointers of their type and, as the other operand of `where` or `+`, integers.
bool pointersFit(const Type &left, const Type &right, bool allowPointers) {
  if (!left.isPointer && !right.isPointer)
    return true;
  if (!allowPointers || left.isFloat() || right.isFloat())
    return false;
  return !left.isPointer || !right.isPointer || left == right;
}

} // namespace

bool TtFunctionEmitter::promoteTogether(Value &left, Value &right, SourceRange range, bool divides,
                                        bool allowPointers) {
  std::optional<Type> leftType = elementTypeOf(*this, left, range), rightType = elementTypeOf(*this, right, range);
  if (!leftType || !rightType)
    return false;
  if (!pointersFit(*leftType, *rightType, allowPointers) || *leftType == Type(Scalar::Void) ||
      *rightType == Type(Scalar::Void)) {
    error(diag::InvalidOperands, range, leftType->str(), rightType->str(),
          leftType->isPointer != rightType->isPointer ? "; an address is a number after `.to(tl.int64)`" : "");
    return false;
  }
  if (leftType->isPointer || rightType->isPointer) {
    left = toTensor(left, range);
    right = toTensor(right, range);
    return broadcastTogether(left, right, range);
  }
  const std::optional<Scalar> promoted =
      promote({leftType->scalar, left.isNumber()}, {rightType->scalar, right.isNumber()}, divides);
  if (!promoted) {
    error(diag::UnexpectedTypes, range, leftType->str(), rightType->str());
    return false;
  }
  const Scalar common = *promoted;
  const bool isMixedDivision = divides && isInteger(common) && left.isNumber() == right.isNumber() &&
                               isSignedInteger(leftType->scalar) != isSignedInteger(rightType->scalar);
  if (isMixedDivision) {
    error(diag::DivisionSignedness, range, leftType->str(), rightType->str());
    return false;
  }
  for (auto [self, other] : {std::pair(&left, &right), std::pair(&right, &left)})
    if (isNegative(*self) && isUnsignedInteger(common)) {
      error(diag::NegativeScalar, range, self->repr(), other->tensor() ? other->tensor()->type.str() : other->repr());
      return false;
    }
  left = left.isNumber() ? constantOf(left, common, range) : cast(left, common, range);
  right = right.isNumber() ? constantOf(right, common, range) : cast(right, common, range);
  return broadcastTogether(left, right, range);
}

} // namespace nereid::sema
