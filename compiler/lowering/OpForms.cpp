// Maps ops to predicates, intrinsics and inline code.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/OpForms.h"

#include "compiler/dialect/tt/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::CmpInst::Predicate lowering::predicateOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return llvm::CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::ne:
    return llvm::CmpInst::ICMP_NE;
  case arith::CmpIPredicate::slt:
    return llvm::CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle:
    return llvm::CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt:
    return llvm::CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge:
    return llvm::CmpInst::ICMP_SGE;
  case arith::CmpIPredicate::ult:
    return llvm::CmpInst::ICMP_ULT;
  case arith::CmpIPredicate::ule:
    return llvm::CmpInst::ICMP_ULE;
  case arith::CmpIPredicate::ugt:
    return llvm::CmpInst::ICMP_UGT;
  case arith::CmpIPredicate::uge:
    return llvm::CmpInst::ICMP_UGE;
  }
  llvm_unreachable("all predicates are listed");
}

llvm::CmpInst::Predicate lowering::predicateOf(arith::CmpFPredicate predicate) {
  using From = arith::CmpFPredicate;
  using To = llvm::CmpInst;
  switch (predicate) {
  case From::AlwaysFalse:
    return To::FCMP_FALSE;
  case From::OEQ:
    return To::FCMP_OEQ;
  case From::OGT:
    return To::FCMP_OGT;
  case From::OGE:
    return To::FCMP_OGE;
  case From::OLT:
    return To::FCMP_OLT;
  case From::OLE:
    return To::FCMP_OLE;
  case From::ONE:
    return To::FCMP_ONE;
  case From::ORD:
    return To::FCMP_ORD;
  case From::UEQ:
    return To::FCMP_UEQ;
  case From::UGT:
    return To::FCMP_UGT;
  case From::UGE:
    return To::FCMP_UGE;
  case From::ULT:
    return To::FCMP_ULT;
  case From::ULE:
    return To::FCMP_ULE;
  case From::UNE:
    return To::FCMP_UNE;
  case From::UNO:
    return To::FCMP_UNO;
  case From::AlwaysTrue:
    return To::FCMP_TRUE;
  }
  llvm_unreachable("all predicates are listed");
}

static bool isTrapFree(llvm::Value *divisor, bool isSigned) {
  auto *constant = dyn_cast<llvm::ConstantInt>(divisor);
  return constant && !constant->isZero() && !(isSigned && constant->isMinusOne());
}

/// The divisor, or 1 where a division by it can trap, whatever is divided: a tile's elements share it.
static llvm::Value *safeDivisor(llvm::IRBuilderBase &ir, llvm::Value *divisor, bool isSigned) {
  llvm::Constant *one = llvm::ConstantInt::get(divisor->getType(), 1);
  if (isTrapFree(divisor, isSigned))
    return divisor;
  llvm::Value *traps = isSigned ? ir.CreateICmpULE(ir.CreateAdd(divisor, one), one) : ir.CreateIsNull(divisor);
  return ir.CreateSelect(traps, one, divisor);
}

/// The quotient of vectors of at most 32 bits, rounded to zero: processors divide vectors of floats alone. The float's
/// mantissa has more than twice the integer's bits, or 24 for 16, so that no quotient rounds up to the next integer.
static llvm::Value *divideAsFloats(llvm::IRBuilderBase &ir, llvm::Value *a, llvm::Value *b, bool isSigned) {
  llvm::Type *type = a->getType();
  llvm::Type *real = type->getWithNewType(type->getScalarSizeInBits() <= 16 ? ir.getFloatTy() : ir.getDoubleTy());
  auto convert = [&](llvm::Value *value) {
    return isSigned ? ir.CreateSIToFP(value, real) : ir.CreateUIToFP(value, real);
  };
  llvm::Value *quotient = ir.CreateFDiv(convert(a), convert(b));
  return isSigned ? ir.CreateFPToSI(quotient, type) : ir.CreateFPToUI(quotient, type);
}

/// LLVM divides vectors by constants without a division, and others element by element.
static bool isDividedAsFloats(llvm::Value *divisor) {
  return divisor->getType()->isVectorTy() && divisor->getType()->getScalarSizeInBits() <= 32 &&
         !isa<llvm::Constant>(divisor);
}

llvm::Value *lowering::emitDivision(llvm::IRBuilderBase &ir, Operation *op, llvm::Value *a, llvm::Value *b) {
  const bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  const bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  llvm::Value *divisor = safeDivisor(ir, b, isSigned);
  llvm::Value *quotient;
  if (isDividedAsFloats(divisor)) {
    quotient = divideAsFloats(ir, a, divisor, isSigned);
    if (isRemainder)
      return ir.CreateSub(a, ir.CreateMul(quotient, divisor));
  } else if (isRemainder) {
    return isSigned ? ir.CreateSRem(a, divisor) : ir.CreateURem(a, divisor);
  } else {
    quotient = isSigned ? ir.CreateSDiv(a, divisor) : ir.CreateUDiv(a, divisor);
  }
  if (!isSigned || isTrapFree(b, isSigned))
    return quotient;
  llvm::Value *isMinusOne = ir.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
  return ir.CreateSelect(isMinusOne, ir.CreateNeg(a), quotient);
}

llvm::Value *lowering::roundToDouble(llvm::IRBuilderBase &ir, llvm::Value *integer, bool isSigned) {
  llvm::Type *type = integer->getType();
  if (type->getScalarSizeInBits() < 64)
    return integer;
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(type, value); };
  // Numbers from 2^53 on keep the 53 bits above the lowest 11; the lowest kept bit is set where any bit is lost.
  constexpr uint64_t kLost = 0x7ff, kExact = uint64_t{1} << 53;
  llvm::Value *lost = ir.CreateAnd(integer, number(kLost));
  llvm::Value *lowest = ir.CreateAnd(ir.CreateAdd(lost, number(kLost)), number(kLost + 1));
  llvm::Value *odd = ir.CreateAnd(ir.CreateOr(integer, lowest), number(~kLost));
  llvm::Value *isExact = isSigned ? ir.CreateICmpULT(ir.CreateAdd(integer, number(kExact)), number(2 * kExact))
                                  : ir.CreateICmpULT(integer, number(kExact));
  return ir.CreateSelect(isExact, integer, odd);
}

nereid::math::Fp8Format lowering::fp8FormatOf(Type type) { return nereid::math::fp8FormatOf(*tt::elementInfoOf(type)); }
