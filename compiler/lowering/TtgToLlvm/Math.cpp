// Emits float arithmetic and elementary functions on elements.
// SPDX-License-Identifier: MIT
//
// Sums and products of f16 and bf16 are native; divisions and functions are computed in f32.
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

#include "compiler/lowering/OpForms.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// Whether the type is a float of 16 bits.
static bool isHalf(llvm::Type *type) { return type->isHalfTy() || type->isBFloatTy(); }

llvm::Value *ElementEmitter::divide(llvm::Value *a, llvm::Value *b) {
  if (!a->getType()->isFloatTy())
    return ir.CreateFDiv(a, b);
  llvm::APFloat inverse(0.0f);
  if (auto *constant = dyn_cast<llvm::ConstantFP>(b); constant && constant->getValueAPF().getExactInverse(&inverse))
    return ir.CreateFMul(a, llvm::ConstantFP::get(a->getType(), inverse));
  llvm::Value *approx = target.approxDivide(ir, a, b);
  return approx ? approx : ir.CreateFDiv(a, b);
}

llvm::Value *ElementEmitter::clamp(tt::ClampFOp op, ArrayRef<llvm::Value *> in) {
  const bool keepsNan = op.getPropagateNan() == tt::PropagateNan::ALL;
  llvm::Value *low = intrinsic(keepsNan ? llvm::Intrinsic::maximum : llvm::Intrinsic::maxnum, {in[0], in[1]});
  return intrinsic(keepsNan ? llvm::Intrinsic::minimum : llvm::Intrinsic::minnum, {low, in[2]});
}

llvm::Value *ElementEmitter::floatOp(Operation *op, ArrayRef<llvm::Value *> in) {
  llvm::Type *type = in[0]->getType();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return ir.CreateFCmp(predicateOf(compare.getPredicate()), in[0], in[1]);
  if (isHalf(type) && isa<arith::DivFOp, arith::RemFOp>(op)) {
    llvm::Value *wide[] = {ir.CreateFPExt(in[0], ir.getFloatTy()), ir.CreateFPExt(in[1], ir.getFloatTy())};
    return ir.CreateFPTrunc(floatOp(op, wide), type);
  }
  return llvm::TypeSwitch<Operation *, llvm::Value *>(op)
      .Case<arith::AddFOp>([&](auto) { return fused(ir.CreateFAdd(in[0], in[1])); })
      .Case<arith::SubFOp>([&](auto) { return fused(ir.CreateFSub(in[0], in[1])); })
      .Case<arith::MulFOp>([&](auto) { return fused(ir.CreateFMul(in[0], in[1])); })
      .Case<arith::DivFOp>([&](auto) { return divide(in[0], in[1]); })
      .Case<arith::RemFOp>([&](auto) { return math::emitFmod(ir, in[0], in[1], target.mathFeatures()); })
      .Case<arith::NegFOp>([&](auto) { return ir.CreateFNeg(in[0]); })
      .Case<arith::MaxNumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::maxnum, in); })
      .Case<arith::MinNumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::minnum, in); })
      .Case<arith::MaximumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::maximum, in); })
      .Case<arith::MinimumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::minimum, in); })
      .Default([](Operation *) { return nullptr; });
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

llvm::Value *ElementEmitter::functionOf(Operation *op, llvm::Value *x) {
  if (std::optional<ApproxMath> approx = approxMathOf(op); approx && x->getType()->isFloatTy())
    if (llvm::Value *result = target.approxMath(ir, *approx, x))
      return result;
  MathEmitter emitter = mathEmitterOf(op);
  return emitter ? emitter(ir, x, target.mathFeatures()) : nullptr;
}

llvm::Value *ElementEmitter::mathOp(Operation *op, ArrayRef<llvm::Value *> in) {
  const llvm::Intrinsic::ID id = mathIntrinsicOf(op);
  if (id != llvm::Intrinsic::not_intrinsic)
    return intrinsic(id, in);
  llvm::Type *type = in[0]->getType();
  if (in.size() != 1)
    return nullptr;
  if (!isHalf(type))
    return functionOf(op, in[0]);
  llvm::Value *result = functionOf(op, ir.CreateFPExt(in[0], ir.getFloatTy()));
  return result ? ir.CreateFPTrunc(result, type) : nullptr;
}
