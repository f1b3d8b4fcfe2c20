// Float arithmetic and elementary functions on lanes of f32 and f64.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Lanes.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/math/Lanes.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

llvm::Value *LaneEmitter::compareFloat(arith::CmpFPredicate predicate, llvm::Value *a, llvm::Value *b) {
  // Both enums number the sixteen predicates from `false` to `true` by the truth table of
  // (unordered, less, greater, equal), but not with the same bits.
  using From = arith::CmpFPredicate;
  using To = llvm::CmpInst;
  static constexpr std::pair<From, To::Predicate> table[] = {
      {From::AlwaysFalse, To::FCMP_FALSE}, {From::OEQ, To::FCMP_OEQ}, {From::OGT, To::FCMP_OGT},
      {From::OGE, To::FCMP_OGE},           {From::OLT, To::FCMP_OLT}, {From::OLE, To::FCMP_OLE},
      {From::ONE, To::FCMP_ONE},           {From::ORD, To::FCMP_ORD}, {From::UEQ, To::FCMP_UEQ},
      {From::UGT, To::FCMP_UGT},           {From::UGE, To::FCMP_UGE}, {From::ULT, To::FCMP_ULT},
      {From::ULE, To::FCMP_ULE},           {From::UNE, To::FCMP_UNE}, {From::UNO, To::FCMP_UNO},
      {From::AlwaysTrue, To::FCMP_TRUE}};
  for (auto [from, to] : table)
    if (from == predicate)
      return ir.CreateFCmp(to, a, b);
  return nullptr;
}

/// The intrinsic of vrangeps or vrangepd for a full register of the type.
static llvm::Intrinsic::ID rangeIntrinsic(llvm::Type *element, unsigned bits) {
  const bool isSingle = element->isFloatTy();
  switch (bits) {
  case 512:
    return isSingle ? llvm::Intrinsic::x86_avx512_mask_range_ps_512 : llvm::Intrinsic::x86_avx512_mask_range_pd_512;
  case 256:
    return isSingle ? llvm::Intrinsic::x86_avx512_mask_range_ps_256 : llvm::Intrinsic::x86_avx512_mask_range_pd_256;
  case 128:
    return isSingle ? llvm::Intrinsic::x86_avx512_mask_range_ps_128 : llvm::Intrinsic::x86_avx512_mask_range_pd_128;
  default:
    return llvm::Intrinsic::not_intrinsic;
  }
}

/// The greater (smaller) of two, a number before NaN: one vrangeps where AVX-512 has it, three instructions elsewhere.
llvm::Value *LaneEmitter::extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  const unsigned bits = vector ? std::min<unsigned>(512, vector->getPrimitiveSizeInBits().getFixedValue()) : 0;
  const llvm::Intrinsic::ID range =
      vector && machine.hasAvx512 ? rangeIntrinsic(vector->getElementType(), bits) : llvm::Intrinsic::not_intrinsic;
  if (range == llvm::Intrinsic::not_intrinsic)
    return intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {a, b});
  const unsigned lanes = bits / vector->getScalarSizeInBits();
  return math::emitByRegister(ir, {a, b}, lanes, [&](ArrayRef<llvm::Value *> parts) -> llvm::Value * {
    // The immediate: which of the two (1: the greater), with the sign that it has itself (4).
    SmallVector<llvm::Value *> operands = {parts[0], parts[1], ir.getInt32(isMax ? 5 : 4),
                                           llvm::Constant::getNullValue(parts[0]->getType()),
                                           llvm::ConstantInt::getAllOnesValue(ir.getIntNTy(std::max(lanes, 8u)))};
    if (bits == 512)
      operands.push_back(ir.getInt32(4)); // no change of the exception mode
    return ir.CreateIntrinsic(range, {}, operands);
  });
}

llvm::Value *LaneEmitter::floatOp(Operation *op, ArrayRef<llvm::Value *> in) {
  if (isa<arith::AddFOp>(op))
    return fused(ir.CreateFAdd(in[0], in[1]));
  if (isa<arith::SubFOp>(op))
    return fused(ir.CreateFSub(in[0], in[1]));
  if (isa<arith::MulFOp>(op))
    return fused(ir.CreateFMul(in[0], in[1]));
  if (isa<arith::DivFOp>(op))
    return ir.CreateFDiv(in[0], in[1]);
  if (isa<arith::RemFOp>(op))
    return ir.CreateFRem(in[0], in[1]);
  if (isa<arith::NegFOp>(op))
    return ir.CreateFNeg(in[0]);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloat(compare.getPredicate(), in[0], in[1]);
  if (isa<arith::MaxNumFOp>(op))
    return extremeNumber(in[0], in[1], /*isMax=*/true);
  if (isa<arith::MinNumFOp>(op))
    return extremeNumber(in[0], in[1], /*isMax=*/false);
  if (isa<arith::MaximumFOp>(op))
    return intrinsic(llvm::Intrinsic::maximum, in);
  if (isa<arith::MinimumFOp>(op))
    return intrinsic(llvm::Intrinsic::minimum, in);
  return nullptr;
}

llvm::Value *LaneEmitter::mathOp(Operation *op, ArrayRef<llvm::Value *> in) {
  using Emitter = llvm::Value *(*)(llvm::IRBuilderBase &, llvm::Value *, const math::HostMath &);
  const Emitter inlined = llvm::TypeSwitch<Operation *, Emitter>(op)
                              .Case<::mlir::math::ExpOp>([](auto) { return Emitter(&math::emitExp); })
                              .Case<::mlir::math::Exp2Op>([](auto) { return Emitter(&math::emitExp2); })
                              .Case<::mlir::math::ExpM1Op>([](auto) { return Emitter(&math::emitExpm1); })
                              .Case<::mlir::math::LogOp>([](auto) { return Emitter(&math::emitLog); })
                              .Case<::mlir::math::Log2Op>([](auto) { return Emitter(&math::emitLog2); })
                              .Case<::mlir::math::Log1pOp>([](auto) { return Emitter(&math::emitLog1p); })
                              .Case<::mlir::math::SinOp>([](auto) { return Emitter(&math::emitSin); })
                              .Case<::mlir::math::CosOp>([](auto) { return Emitter(&math::emitCos); })
                              .Case<::mlir::math::ErfOp>([](auto) { return Emitter(&math::emitErf); })
                              .Case<::mlir::math::TanhOp>([](auto) { return Emitter(&math::emitTanh); })
                              .Case<::mlir::math::SqrtOp>([](auto) { return Emitter(&math::emitSqrt); })
                              .Case<::mlir::math::RsqrtOp>([](auto) { return Emitter(&math::emitRsqrt); })
                              .Default([](Operation *) { return Emitter(nullptr); });
  if (inlined)
    return inlined(ir, in[0], math);
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
          .Case<::mlir::math::PowFOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::pow); })
          .Case<::mlir::math::Log10Op>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::log10); })
          .Case<::mlir::math::TanOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::tan); })
          .Default([](Operation *) { return llvm::Intrinsic::not_intrinsic; });
  return id == llvm::Intrinsic::not_intrinsic ? nullptr : intrinsic(id, in);
}
