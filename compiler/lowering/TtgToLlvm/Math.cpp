// Float arithmetic and elementary functions on elements.
// SPDX-License-Identifier: MIT
//
// f16 and bf16 have their own sums and products; division and functions go through f32.
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static llvm::CmpInst::Predicate predicateOf(arith::CmpFPredicate predicate) {
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

/// Whether the type is a float of 16 bits.
static bool isHalf(llvm::Type *type) { return type->isHalfTy() || type->isBFloatTy(); }

llvm::Value *ElementEmitter::divide(llvm::Value *a, llvm::Value *b) {
  if (!a->getType()->isFloatTy())
    return ir.CreateFDiv(a, b);
  llvm::APFloat inverse(0.0f);
  if (auto *constant = dyn_cast<llvm::ConstantFP>(b); constant && constant->getValueAPF().getExactInverse(&inverse))
    return ir.CreateFMul(a, llvm::ConstantFP::get(a->getType(), inverse));
  llvm::Value *quick = target.quickDivide(ir, a, b);
  return quick ? quick : ir.CreateFDiv(a, b);
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
      .Case<arith::RemFOp>([&](auto) { return math::emitFmod(ir, in[0], in[1], target.mathFacts()); })
      .Case<arith::NegFOp>([&](auto) { return ir.CreateFNeg(in[0]); })
      .Case<arith::MaxNumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::maxnum, in); })
      .Case<arith::MinNumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::minnum, in); })
      .Case<arith::MaximumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::maximum, in); })
      .Case<arith::MinimumFOp>([&](auto) { return intrinsic(llvm::Intrinsic::minimum, in); })
      .Default([](Operation *) { return nullptr; });
}

/// The quick form that a function may have.
static std::optional<QuickMath> quickMathOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<QuickMath>>(op)
      .Case<::mlir::math::ExpOp>([](auto) { return QuickMath::Exp; })
      .Case<::mlir::math::Exp2Op>([](auto) { return QuickMath::Exp2; })
      .Case<::mlir::math::SqrtOp>([](auto) { return QuickMath::Sqrt; })
      .Case<::mlir::math::RsqrtOp>([](auto) { return QuickMath::Rsqrt; })
      .Default([](Operation *) { return std::nullopt; });
}

using MathEmitter = llvm::Value *(*)(llvm::IRBuilderBase &, llvm::Value *, const nereid::math::HostMath &);

static MathEmitter mathEmitterOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, MathEmitter>(op)
      .Case<::mlir::math::ExpOp>([](auto) { return &nereid::math::emitExp; })
      .Case<::mlir::math::Exp2Op>([](auto) { return &nereid::math::emitExp2; })
      .Case<::mlir::math::ExpM1Op>([](auto) { return &nereid::math::emitExpm1; })
      .Case<::mlir::math::LogOp>([](auto) { return &nereid::math::emitLog; })
      .Case<::mlir::math::Log2Op>([](auto) { return &nereid::math::emitLog2; })
      .Case<::mlir::math::Log1pOp>([](auto) { return &nereid::math::emitLog1p; })
      .Case<::mlir::math::SinOp>([](auto) { return &nereid::math::emitSin; })
      .Case<::mlir::math::CosOp>([](auto) { return &nereid::math::emitCos; })
      .Case<::mlir::math::ErfOp>([](auto) { return &nereid::math::emitErf; })
      .Case<::mlir::math::TanhOp>([](auto) { return &nereid::math::emitTanh; })
      .Case<::mlir::math::SqrtOp>([](auto) { return &nereid::math::emitSqrt; })
      .Case<::mlir::math::RsqrtOp>([](auto) { return &nereid::math::emitRsqrt; })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *ElementEmitter::functionOf(Operation *op, llvm::Value *x) {
  if (std::optional<QuickMath> quick = quickMathOf(op); quick && x->getType()->isFloatTy())
    if (llvm::Value *result = target.quickMath(ir, *quick, x))
      return result;
  MathEmitter emitter = mathEmitterOf(op);
  return emitter ? emitter(ir, x, target.mathFacts()) : nullptr;
}

llvm::Value *ElementEmitter::mathOp(Operation *op, ArrayRef<llvm::Value *> in) {
  const llvm::Intrinsic::ID id =
      llvm::TypeSwitch<Operation *, llvm::Intrinsic::ID>(op)
          .Case<::mlir::math::AbsFOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::fabs); })
          .Case<::mlir::math::FloorOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::floor); })
          .Case<::mlir::math::CeilOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::ceil); })
          .Case<::mlir::math::TruncOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::trunc); })
          .Case<::mlir::math::RoundOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::round); })
          .Case<::mlir::math::RoundEvenOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::roundeven); })
          .Case<::mlir::math::CopySignOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::copysign); })
          .Case<::mlir::math::FmaOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::fma); })
          .Default([](Operation *) { return llvm::Intrinsic::not_intrinsic; });
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
