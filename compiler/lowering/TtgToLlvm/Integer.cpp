// Integer ops on elements.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

#include "compiler/lowering/OpForms.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::Value *ElementEmitter::shift(Operation *op, llvm::Value *a, llvm::Value *amount) {
  llvm::Type *type = a->getType();
  const unsigned bits = type->getIntegerBitWidth();
  llvm::Value *inRange = ir.CreateICmpULT(amount, llvm::ConstantInt::get(type, bits));
  if (isa<arith::ShRSIOp>(op))
    return ir.CreateAShr(a, ir.CreateSelect(inRange, amount, llvm::ConstantInt::get(type, bits - 1)));
  llvm::Constant *zero = llvm::Constant::getNullValue(type);
  llvm::Value *safe = ir.CreateSelect(inRange, amount, zero);
  llvm::Value *shifted = isa<arith::ShLIOp>(op) ? ir.CreateShl(a, safe) : ir.CreateLShr(a, safe);
  return ir.CreateSelect(inRange, shifted, zero);
}

llvm::Value *ElementEmitter::highProduct(llvm::Value *a, llvm::Value *b, bool isSigned) {
  const unsigned bits = a->getType()->getIntegerBitWidth();
  llvm::Type *wide = ir.getIntNTy(2 * bits);
  auto extend = [&](llvm::Value *x) { return isSigned ? ir.CreateSExt(x, wide) : ir.CreateZExt(x, wide); };
  return ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(extend(a), extend(b)), bits), a->getType());
}

llvm::Value *ElementEmitter::integerOp(Operation *op, ArrayRef<llvm::Value *> in) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return ir.CreateICmp(predicateOf(compare.getPredicate()), in[0], in[1]);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return emitDivision(ir, op, in[0], in[1]);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return shift(op, in[0], in[1]);
  if (isa<::mlir::math::AbsIOp>(op))
    return ir.CreateIntrinsic(llvm::Intrinsic::abs, {in[0]->getType()}, {in[0], ir.getFalse()});
  if (isa<::mlir::math::CountLeadingZerosOp>(op))
    return ir.CreateIntrinsic(llvm::Intrinsic::ctlz, {in[0]->getType()}, {in[0], ir.getFalse()});
  if (isa<::mlir::math::CountTrailingZerosOp>(op))
    return ir.CreateIntrinsic(llvm::Intrinsic::cttz, {in[0]->getType()}, {in[0], ir.getFalse()});
  return llvm::TypeSwitch<Operation *, llvm::Value *>(op)
      .Case<arith::AddIOp>([&](auto) { return ir.CreateAdd(in[0], in[1]); })
      .Case<arith::SubIOp>([&](auto) { return ir.CreateSub(in[0], in[1]); })
      .Case<arith::MulIOp>([&](auto) { return ir.CreateMul(in[0], in[1]); })
      .Case<arith::AndIOp>([&](auto) { return ir.CreateAnd(in[0], in[1]); })
      .Case<arith::OrIOp>([&](auto) { return ir.CreateOr(in[0], in[1]); })
      .Case<arith::XOrIOp>([&](auto) { return ir.CreateXor(in[0], in[1]); })
      .Case<arith::MaxSIOp>([&](auto) { return intrinsic(llvm::Intrinsic::smax, in); })
      .Case<arith::MinSIOp>([&](auto) { return intrinsic(llvm::Intrinsic::smin, in); })
      .Case<arith::MaxUIOp>([&](auto) { return intrinsic(llvm::Intrinsic::umax, in); })
      .Case<arith::MinUIOp>([&](auto) { return intrinsic(llvm::Intrinsic::umin, in); })
      .Case<::mlir::math::CtPopOp>([&](auto) { return intrinsic(llvm::Intrinsic::ctpop, in); })
      .Default([](Operation *) { return nullptr; });
}
