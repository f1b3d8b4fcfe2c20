// Divides by the same number several times with one reciprocal.
// SPDX-License-Identifier: MIT
//
// ptxas expands each div.full.f32 to a / b = (a * s) * (1 / (b * s)), where s keeps the reciprocal of a very large or a
// subnormal b normal, and merges what the divisions of a row have in common late. Here they share s and the reciprocal
// from the start: two multiplications per element remain of four instructions.
//
// Divisions of 32-bit integers share the reciprocal z of the divisor, a fraction of 2^32 that is rounded down:
//   q = high word of x * z, r = x - q * y, which is off by at most two: while (r >= y) q += 1, r -= y, twice
#include "compiler/target/nvidia/codegen/ShareDivisors.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

//--- floats --------------------------------------------------------------------------------

/// With fewer divisions the shared part costs more than it saves.
static constexpr unsigned kFewestDivisions = 3;

static void divideByReciprocal(ArrayRef<IntrinsicInst *> divisions) {
  IRBuilder<> ir(divisions.front());
  Value *divisor = divisions.front()->getArgOperand(1);
  auto number = [&](double value) { return ConstantFP::get(ir.getFloatTy(), value); };
  Value *magnitude = ir.CreateUnaryIntrinsic(Intrinsic::fabs, divisor);
  Value *scale = ir.CreateSelect(ir.CreateFCmpOLT(magnitude, number(0x1p-126)), number(0x1p24), number(1));
  scale = ir.CreateSelect(ir.CreateFCmpOGT(magnitude, number(0x1p126)), number(0x1p-2), scale);
  Value *reciprocal = ir.CreateIntrinsic(Intrinsic::nvvm_rcp_approx_ftz_f, {}, {ir.CreateFMul(divisor, scale)});
  for (IntrinsicInst *division : divisions) {
    ir.SetInsertPoint(division);
    Value *quotient = ir.CreateFMul(ir.CreateFMul(division->getArgOperand(0), scale), reciprocal);
    division->replaceAllUsesWith(quotient);
    division->eraseFromParent();
  }
}

//--- integers ------------------------------------------------------------------------------

namespace {
/// A divisor's magnitude and sign, and its reciprocal as a fraction of 2^32.
struct IntegerDivisor {
  IntegerDivisor(IRBuilder<> &ir, Value *divisor, bool isSigned);
  /// The quotient and the remainder of a value.
  std::pair<Value *, Value *> divide(IRBuilder<> &ir, Value *value) const;

  Value *magnitude, *sign = nullptr, *reciprocal;
};
} // namespace

static Value *highWord(IRBuilder<> &ir, Value *a, Value *b) {
  return ir.CreateIntrinsic(Intrinsic::nvvm_mulhi_ui, {}, {a, b});
}

/// The sign as a mask: all ones where the value is negative, else zero.
static Value *signOf(IRBuilder<> &ir, Value *value) { return ir.CreateAShr(value, 31); }

/// The value, negated where the sign is all ones.
static Value *negateBy(IRBuilder<> &ir, Value *value, Value *sign) {
  return ir.CreateSub(ir.CreateXor(value, sign), sign);
}

IntegerDivisor::IntegerDivisor(IRBuilder<> &ir, Value *divisor, bool isSigned) : magnitude(divisor) {
  if (isSigned) {
    sign = signOf(ir, divisor);
    magnitude = negateBy(ir, divisor, sign);
  }
  Value *real = ir.CreateUIToFP(magnitude, ir.getFloatTy());
  Value *inverse = ir.CreateIntrinsic(Intrinsic::nvvm_rcp_approx_ftz_f, {}, {real});
  // Three units in the last place below 2^32: conversion, inverse and multiplication never make the fraction too large.
  Value *scaled = ir.CreateFMul(inverse, ConstantFP::get(ir.getFloatTy(), 0x1.fffff4p31));
  Value *estimate = ir.CreateIntrinsic(Intrinsic::nvvm_f2ui_rz, {}, {scaled});
  Value *error = ir.CreateMul(ir.CreateNeg(magnitude), estimate); // a step of Newton's method
  reciprocal = ir.CreateAdd(estimate, highWord(ir, estimate, error));
}

std::pair<Value *, Value *> IntegerDivisor::divide(IRBuilder<> &ir, Value *value) const {
  Value *valueSign = sign ? signOf(ir, value) : nullptr;
  Value *dividend = sign ? negateBy(ir, value, valueSign) : value;
  Value *quotient = highWord(ir, dividend, reciprocal);
  Value *remainder = ir.CreateSub(dividend, ir.CreateMul(quotient, magnitude));
  for (int correction = 0; correction < 2; ++correction) {
    Value *isTooSmall = ir.CreateICmpUGE(remainder, magnitude);
    quotient = ir.CreateSelect(isTooSmall, ir.CreateAdd(quotient, ir.getInt32(1)), quotient);
    remainder = ir.CreateSelect(isTooSmall, ir.CreateSub(remainder, magnitude), remainder);
  }
  if (!sign)
    return {quotient, remainder};
  return {negateBy(ir, quotient, ir.CreateXor(valueSign, sign)), negateBy(ir, remainder, valueSign)};
}

static void divideByFraction(bool isSigned, ArrayRef<BinaryOperator *> divisions) {
  IRBuilder<> ir(divisions.front());
  const IntegerDivisor shared(ir, divisions.front()->getOperand(1), isSigned);
  for (BinaryOperator *division : divisions) {
    ir.SetInsertPoint(division);
    const auto [quotient, remainder] = shared.divide(ir, division->getOperand(0));
    const bool isQuotient = division->getOpcode() == Instruction::SDiv || division->getOpcode() == Instruction::UDiv;
    division->replaceAllUsesWith(isQuotient ? quotient : remainder);
    division->eraseFromParent(); // the unused one of the two is dead code
  }
}

//--- both ----------------------------------------------------------------------------------

static bool isInteger32Division(const BinaryOperator &op) {
  switch (op.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return op.getType()->isIntegerTy(32) && !isa<Constant>(op.getOperand(1));
  default:
    return false;
  }
}

static void shareDivisorsIn(BasicBlock &block) {
  MapVector<Value *, SmallVector<IntrinsicInst *>> floats;
  MapVector<Value *, SmallVector<BinaryOperator *>> integers[2]; // unsigned, signed
  for (Instruction &instruction : block) {
    auto *division = dyn_cast<IntrinsicInst>(&instruction);
    if (division && division->getIntrinsicID() == Intrinsic::nvvm_div_full)
      floats[division->getArgOperand(1)].push_back(division);
    if (auto *op = dyn_cast<BinaryOperator>(&instruction); op && isInteger32Division(*op)) {
      const bool isSigned = op->getOpcode() == Instruction::SDiv || op->getOpcode() == Instruction::SRem;
      integers[isSigned][op->getOperand(1)].push_back(op);
    }
  }
  // A divisor may be a quotient that is replaced before its own divisions are: the keys are not used from here on.
  for (auto &[key, divisions] : floats)
    if (divisions.size() >= kFewestDivisions)
      divideByReciprocal(divisions);
  for (const bool isSigned : {false, true})
    for (auto &[key, divisions] : integers[isSigned])
      if (divisions.size() >= kFewestDivisions)
        divideByFraction(isSigned, divisions);
}

void nereid::nvidia::shareDivisors(Function &function) {
  for (BasicBlock &block : function)
    shareDivisorsIn(block);
}
