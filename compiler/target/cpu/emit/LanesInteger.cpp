// Integer ops on lanes. Where the source language leaves a result undefined, no operation here may trap or be poison.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/lowering/OpForms.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

llvm::Value *LaneEmitter::shift(Operation *op, llvm::Value *a, llvm::Value *amount) {
  llvm::Type *type = a->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value *inRange = ir.CreateICmpULT(amount, llvm::ConstantInt::get(type, bits));
  if (isa<arith::ShRSIOp>(op))
    return ir.CreateAShr(a, ir.CreateSelect(inRange, amount, llvm::ConstantInt::get(type, bits - 1)));
  llvm::Constant *zero = llvm::Constant::getNullValue(type);
  llvm::Value *safe = ir.CreateSelect(inRange, amount, zero);
  llvm::Value *shifted = isa<arith::ShLIOp>(op) ? ir.CreateShl(a, safe) : ir.CreateLShr(a, safe);
  return ir.CreateSelect(inRange, shifted, zero);
}

llvm::Value *LaneEmitter::highProduct(llvm::Value *a, llvm::Value *b, bool isSigned) {
  const unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type *wide = like(a, ir.getIntNTy(2 * bits));
  auto extend = [&](llvm::Value *x) { return isSigned ? ir.CreateSExt(x, wide) : ir.CreateZExt(x, wide); };
  return ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(extend(a), extend(b)), bits), a->getType());
}

llvm::Value *LaneEmitter::integerOp(Operation *op, ArrayRef<llvm::Value *> in) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return ir.CreateICmp(lowering::predicateOf(compare.getPredicate()), in[0], in[1]);
  if (isa<arith::AddIOp>(op))
    return ir.CreateAdd(in[0], in[1]);
  if (isa<arith::SubIOp>(op))
    return ir.CreateSub(in[0], in[1]);
  if (isa<arith::MulIOp>(op))
    return ir.CreateMul(in[0], in[1]);
  if (isa<arith::AndIOp>(op))
    return ir.CreateAnd(in[0], in[1]);
  if (isa<arith::OrIOp>(op))
    return ir.CreateOr(in[0], in[1]);
  if (isa<arith::XOrIOp>(op))
    return ir.CreateXor(in[0], in[1]);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return lowering::emitDivision(ir, op, in[0], in[1]);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return shift(op, in[0], in[1]);
  if (isa<arith::MaxSIOp>(op))
    return intrinsic(llvm::Intrinsic::smax, in);
  if (isa<arith::MinSIOp>(op))
    return intrinsic(llvm::Intrinsic::smin, in);
  if (isa<arith::MaxUIOp>(op))
    return intrinsic(llvm::Intrinsic::umax, in);
  if (isa<arith::MinUIOp>(op))
    return intrinsic(llvm::Intrinsic::umin, in);
  if (isa<::mlir::math::CtPopOp>(op))
    return intrinsic(llvm::Intrinsic::ctpop, in);
  if (isa<::mlir::math::AbsIOp>(op))
    return ir.CreateIntrinsic(llvm::Intrinsic::abs, {in[0]->getType()}, {in[0], ir.getFalse()});
  if (isa<::mlir::math::CountLeadingZerosOp, ::mlir::math::CountTrailingZerosOp>(op)) {
    const auto id = isa<::mlir::math::CountLeadingZerosOp>(op) ? llvm::Intrinsic::ctlz : llvm::Intrinsic::cttz;
    return ir.CreateIntrinsic(id, {in[0]->getType()}, {in[0], ir.getFalse()});
  }
  return nullptr;
}
