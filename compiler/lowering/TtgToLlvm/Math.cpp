// Float arithmetic and elementary functions of elements as GPUs compute them.
// SPDX-License-Identifier: MIT
//
// Sums and products of f16 and bf16 are native; divisions, functions and fp8 arithmetic are computed in f32.
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

bool ElementEmitter::computesInSingle(Type element, bool isFunction) {
  const unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 8 || (bits == 16 && isFunction);
}

/// LLVM also finds the instruction in the product of extended operands, but there it is five instructions: a third of
/// what it compiles for random numbers. Constants are left to be folded.
llvm::Value *ElementEmitter::highProduct(llvm::Value *a, llvm::Value *b, bool isSigned) {
  const auto isZero = [](llvm::Value *x) { return isa<llvm::Constant>(x) && cast<llvm::Constant>(x)->isNullValue(); };
  const bool folds = (isa<llvm::Constant>(a) && isa<llvm::Constant>(b)) || isZero(a) || isZero(b);
  llvm::Value *high = folds ? nullptr : target.mulHigh(ir, a, b, isSigned);
  return high ? high : ElementOps::highProduct(a, b, isSigned);
}

llvm::Value *ElementEmitter::divide(llvm::Value *a, llvm::Value *b) {
  if (!a->getType()->isFloatTy())
    return ir.CreateFDiv(a, b);
  llvm::APFloat inverse(0.0f);
  if (auto *constant = dyn_cast<llvm::ConstantFP>(b); constant && constant->getValueAPF().getExactInverse(&inverse))
    return ir.CreateFMul(a, llvm::ConstantFP::get(a->getType(), inverse));
  llvm::Value *approx = target.approxDivide(ir, a, b);
  return approx ? approx : ir.CreateFDiv(a, b);
}

llvm::Value *ElementEmitter::remainder(llvm::Value *a, llvm::Value *b) {
  return math::emitFmod(ir, a, b, target.mathFeatures());
}

llvm::Value *ElementEmitter::extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) {
  return intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {a, b});
}

/// The approximate form of a function, if any.
static std::optional<ApproxMath> approxMathOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ApproxMath>>(op)
      .Case<::mlir::math::ExpOp>([](auto) { return ApproxMath::Exp; })
      .Case<::mlir::math::Exp2Op>([](auto) { return ApproxMath::Exp2; })
      .Case<::mlir::math::SqrtOp>([](auto) { return ApproxMath::Sqrt; })
      .Case<::mlir::math::RsqrtOp>([](auto) { return ApproxMath::Rsqrt; })
      .Default([](Operation *) { return std::nullopt; });
}

llvm::Value *ElementEmitter::mathFunction(Operation *op, MathEmitter emit, llvm::Value *x) {
  if (std::optional<ApproxMath> approx = approxMathOf(op); approx && x->getType()->isFloatTy())
    if (llvm::Value *result = target.approxMath(ir, *approx, x))
      return result;
  return emit(ir, x, target.mathFeatures());
}
