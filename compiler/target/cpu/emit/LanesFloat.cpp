// Float arithmetic and elementary functions on lanes of f32 and f64.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/lowering/OpForms.h"
#include "compiler/math/Lanes.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

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

/// The greater (smaller) of two, a number before NaN: one vrangeps with AVX-512, three instructions elsewhere.
llvm::Value *LaneEmitter::extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  const unsigned bits = vector ? std::min<unsigned>(512, vector->getPrimitiveSizeInBits().getFixedValue()) : 0;
  const llvm::Intrinsic::ID range =
      vector && machine.hasAvx512 ? rangeIntrinsic(vector->getElementType(), bits) : llvm::Intrinsic::not_intrinsic;
  if (range == llvm::Intrinsic::not_intrinsic)
    return intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {a, b});
  const unsigned lanes = bits / vector->getScalarSizeInBits();
  return math::emitByRegister(ir, {a, b}, lanes, [&](ArrayRef<llvm::Value *> parts) -> llvm::Value * {
    // The immediate: 1 selects the greater (0 the smaller), 4 keeps the sign of the result.
    SmallVector<llvm::Value *> operands = {parts[0], parts[1], ir.getInt32(isMax ? 5 : 4),
                                           llvm::Constant::getNullValue(parts[0]->getType()),
                                           llvm::ConstantInt::getAllOnesValue(ir.getIntNTy(std::max(lanes, 8u)))};
    if (bits == 512)
      operands.push_back(ir.getInt32(4)); // the current exception mode
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
    return ir.CreateFCmp(lowering::predicateOf(compare.getPredicate()), in[0], in[1]);
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
  const lowering::MathEmitter inlined = lowering::mathEmitterOf(op);
  if (inlined)
    return inlined(ir, in[0], math);
  llvm::Intrinsic::ID id = lowering::mathIntrinsicOf(op);
  if (id == llvm::Intrinsic::not_intrinsic) // library functions
    id = llvm::TypeSwitch<Operation *, llvm::Intrinsic::ID>(op)
             .Case<::mlir::math::PowFOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::pow); })
             .Case<::mlir::math::Log10Op>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::log10); })
             .Case<::mlir::math::TanOp>([](auto) { return llvm::Intrinsic::ID(llvm::Intrinsic::tan); })
             .Default([](Operation *) { return llvm::Intrinsic::not_intrinsic; });
  return id == llvm::Intrinsic::not_intrinsic ? nullptr : intrinsic(id, in);
}
