// Bounds a float from the instructions that compute it, so that code for unusual arguments can be left out.
// SPDX-License-Identifier: MIT
//
// Interval arithmetic in f64. Rounding of the value's own operations is covered by widening each result by a relative
// 2^-20; bounds outside of the format become infinite.

#include "compiler/math/FloatRange.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::math {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr FloatRange anything = {-infinity, infinity, true};
/// The depth of operands that are followed: each value has up to three, and is visited again from each of its users.
static constexpr unsigned maxDepth = 6;

static bool isFinite(const FloatRange &range) { return std::isfinite(range.low) && std::isfinite(range.high); }

/// `sign` is the direction in which the bound widens. Denormal results may be flushed to zero.
static double outward(double bound, double sign, double smallestNormal, double largest) {
  const double widened = bound + sign * std::abs(bound) * 0x1p-20;
  if (sign * widened < 0 && std::abs(widened) < smallestNormal)
    return 0;
  return std::abs(widened) > largest ? std::copysign(infinity, widened) : widened;
}

template <class Float> static FloatRange roundedTo(const FloatRange &exact) {
  using Limits = std::numeric_limits<Float>;
  return {outward(exact.low, -1, Limits::min(), Limits::max()), outward(exact.high, 1, Limits::min(), Limits::max()),
          exact.maybeNan};
}

static FloatRange rounded(const FloatRange &exact, const llvm::Type *type) {
  return type->getScalarType()->isFloatTy() ? roundedTo<float>(exact) : roundedTo<double>(exact);
}

static FloatRange negated(const FloatRange &a) { return {-a.high, -a.low, a.maybeNan}; }

static FloatRange magnitude(const FloatRange &a) {
  const double high = std::max(std::abs(a.low), std::abs(a.high));
  const bool hasZero = a.low <= 0 && a.high >= 0;
  return {hasZero ? 0 : std::min(std::abs(a.low), std::abs(a.high)), high, a.maybeNan};
}

static FloatRange sum(const FloatRange &a, const FloatRange &b) {
  if (!isFinite(a) || !isFinite(b))
    return anything;
  return {a.low + b.low, a.high + b.high, a.maybeNan || b.maybeNan};
}

static FloatRange product(const FloatRange &a, const FloatRange &b) {
  if (!isFinite(a) || !isFinite(b))
    return anything;
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high, a.maybeNan || b.maybeNan};
}

static FloatRange either(const FloatRange &a, const FloatRange &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.maybeNan || b.maybeNan};
}

/// The larger of two, or the one that is no NaN.
static FloatRange larger(const FloatRange &a, const FloatRange &b) {
  double low = std::max(a.low, b.low);
  if (b.maybeNan)
    low = std::min(low, a.low);
  if (a.maybeNan)
    low = std::min(low, b.low);
  return {low, std::max(a.high, b.high), a.maybeNan && b.maybeNan};
}

static FloatRange smaller(const FloatRange &a, const FloatRange &b) { return negated(larger(negated(a), negated(b))); }

static FloatRange rangeAt(const llvm::Value *x, unsigned depth);

static FloatRange rangeOfConstant(const llvm::Constant *constant) {
  const llvm::Constant *lane = constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
  const auto *number = llvm::dyn_cast_or_null<llvm::ConstantFP>(lane);
  if (!number || number->isNaN())
    return anything;
  const double value = number->getValueAPF().convertToDouble();
  return {value, value, false};
}

static FloatRange rangeOfInteger(const llvm::Value *integer, bool isSigned) {
  const double highest = std::ldexp(1.0, static_cast<int>(integer->getType()->getScalarSizeInBits()) - isSigned);
  return {isSigned ? -highest : 0, highest, false};
}

static FloatRange rangeOfCall(const llvm::IntrinsicInst *call, unsigned depth) {
  const auto operand = [&](unsigned n) { return rangeAt(call->getArgOperand(n), depth - 1); };
  switch (call->getIntrinsicID()) {
  case llvm::Intrinsic::fabs:
    return magnitude(operand(0));
  case llvm::Intrinsic::fma:
    return rounded(sum(product(operand(0), operand(1)), operand(2)), call->getType());
  case llvm::Intrinsic::maxnum:
    return larger(operand(0), operand(1));
  case llvm::Intrinsic::minnum:
    return smaller(operand(0), operand(1));
  default:
    return anything;
  }
}

static FloatRange rangeOfInstruction(const llvm::Instruction *instruction, unsigned depth) {
  const auto operand = [&](unsigned n) { return rangeAt(instruction->getOperand(n), depth - 1); };
  const llvm::Type *type = instruction->getType();
  switch (instruction->getOpcode()) {
  case llvm::Instruction::SIToFP:
  case llvm::Instruction::UIToFP:
    return rounded(rangeOfInteger(instruction->getOperand(0), instruction->getOpcode() == llvm::Instruction::SIToFP),
                   type);
  case llvm::Instruction::FNeg:
    return negated(operand(0));
  case llvm::Instruction::FAdd:
    return rounded(sum(operand(0), operand(1)), type);
  case llvm::Instruction::FSub:
    return rounded(sum(operand(0), negated(operand(1))), type);
  case llvm::Instruction::FMul:
    return rounded(product(operand(0), operand(1)), type);
  case llvm::Instruction::Select:
    return either(operand(1), operand(2));
  default:
    return anything;
  }
}

static FloatRange rangeAt(const llvm::Value *x, unsigned depth) {
  if (const auto *constant = llvm::dyn_cast<llvm::Constant>(x))
    return rangeOfConstant(constant);
  const auto *instruction = llvm::dyn_cast<llvm::Instruction>(x);
  const llvm::Type *type = x->getType()->getScalarType();
  if (!instruction || depth == 0 || !(type->isFloatTy() || type->isDoubleTy()))
    return anything;
  if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction))
    return rangeOfCall(call, depth);
  return rangeOfInstruction(instruction, depth);
}

FloatRange floatRange(const llvm::Value *x) { return rangeAt(x, maxDepth); }

} // namespace nereid::math
