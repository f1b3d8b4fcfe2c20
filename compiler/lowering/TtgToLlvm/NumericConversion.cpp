// Emits conversions between number formats on elements.
// SPDX-License-Identifier: MIT
//
// Conversions between floats go through f32. A double narrows through an f32 rounded to odd: with at least two more
// bits than the result has, the second rounding is then correct.
#include "compiler/lowering/OpForms.h"
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

#include "compiler/lowering/OpForms.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static bool isFp8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

/// The bits of `rounded`, the float nearest to `value`, moved one step towards zero where its magnitude is greater.
llvm::Value *ElementEmitter::towardZeroBits(llvm::Value *value, llvm::Value *rounded) {
  llvm::Value *back = intrinsic(llvm::Intrinsic::fabs, {ir.CreateFPExt(rounded, value->getType())});
  llvm::Value *isLarger = ir.CreateFCmpOGT(back, intrinsic(llvm::Intrinsic::fabs, {value}));
  llvm::Type *bitsType = ir.getIntNTy(rounded->getType()->getScalarSizeInBits());
  return ir.CreateSub(ir.CreateBitCast(rounded, bitsType), ir.CreateZExt(isLarger, bitsType));
}

llvm::Value *ElementEmitter::roundToOdd(llvm::Value *value) {
  llvm::Value *single = ir.CreateFPTrunc(value, ir.getFloatTy());
  llvm::Value *isInexact = ir.CreateFCmpONE(ir.CreateFPExt(single, value->getType()), value);
  llvm::Value *odd = ir.CreateOr(towardZeroBits(value, single), ir.getInt32(1));
  return ir.CreateSelect(isInexact, ir.CreateBitCast(odd, ir.getFloatTy()), single);
}

llvm::Value *ElementEmitter::narrowDouble(llvm::Value *value, bool towardZero) {
  llvm::Value *single = ir.CreateFPTrunc(value, ir.getFloatTy());
  return towardZero ? ir.CreateBitCast(towardZeroBits(value, single), ir.getFloatTy()) : single;
}

llvm::Value *ElementEmitter::toSingle(llvm::Value *value, Type from) {
  if (isFp8(from)) {
    llvm::Value *byInstruction = target.widenFp8(ir, value, from);
    return byInstruction ? byInstruction : math::emitFp8ToF32(ir, value, fp8FormatOf(from));
  }
  return value->getType()->isFloatTy() ? value : ir.CreateFPExt(value, ir.getFloatTy());
}

llvm::Value *ElementEmitter::fromSingle(llvm::Value *single, Type to, bool towardZero) {
  if (to.isF32())
    return single;
  if (to.isF64())
    return ir.CreateFPExt(single, ir.getDoubleTy());
  if (isFp8(to)) {
    llvm::Value *byInstruction = target.narrow(ir, single, to, towardZero);
    return byInstruction ? byInstruction : math::emitF32ToFp8(ir, single, fp8FormatOf(to), towardZero);
  }
  if (!towardZero)
    return ir.CreateFPTrunc(single, typeOf(to));
  if (llvm::Value *narrow = target.narrow(ir, single, to, towardZero))
    return narrow;
  llvm::Value *nearest = ir.CreateFPTrunc(single, typeOf(to));
  return ir.CreateBitCast(towardZeroBits(single, nearest), typeOf(to));
}

llvm::Value *ElementEmitter::convertFloat(Type from, Type to, llvm::Value *value, bool towardZero) {
  if (from == to)
    return value;
  if (!from.isF64()) {
    llvm::Value *single = toSingle(value, from);
    return single ? fromSingle(single, to, towardZero) : nullptr;
  }
  if (to.isF32())
    return narrowDouble(value, towardZero);
  if (to.isF16() && !towardZero)
    return ir.CreateFPTrunc(value, ir.getHalfTy());
  return fromSingle(towardZero ? narrowDouble(value, true) : roundToOdd(value), to, towardZero);
}

llvm::Value *ElementEmitter::convert(llvm::Value *value, Type from, Type to) {
  return isa<FloatType>(to) ? convertFloat(from, to, value, /*towardZero=*/false)
                            : ir.CreateSExtOrTrunc(value, typeOf(to));
}

llvm::Value *ElementEmitter::intToFloat(llvm::Value *value, Type to, bool isSigned) {
  // Not every target rounds integers to bf16 directly, and f32 does not hold every integer; f64 holds those of 32 bits.
  const bool isWide = value->getType()->getIntegerBitWidth() > 16;
  llvm::Type *type = to.isBF16() ? (isWide ? ir.getDoubleTy() : ir.getFloatTy()) : typeOf(to);
  if (to.isBF16())
    value = roundToDouble(ir, value, isSigned);
  llvm::Value *real = isSigned ? ir.CreateSIToFP(value, type) : ir.CreateUIToFP(value, type);
  if (!to.isBF16())
    return real;
  return ir.CreateFPTrunc(isWide ? roundToOdd(real) : real, ir.getBFloatTy());
}

llvm::Value *ElementEmitter::conversion(Operation *op, ArrayRef<llvm::Value *> in) {
  const Type from = tt::elementOf(op->getOperand(0).getType()), to = tt::elementOf(op->getResult(0).getType());
  llvm::Type *type = typeOf(to);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(from, to, in[0], /*towardZero=*/false);
  if (isa<arith::BitcastOp>(op))
    return ir.CreateBitCast(in[0], type);
  if (isFp8(from) || isFp8(to))
    return nullptr;
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return intToFloat(in[0], to, isa<arith::SIToFPOp>(op));
  // Values out of range give an arbitrary value, the same at each use.
  if (isa<arith::FPToSIOp>(op))
    return ir.CreateFreeze(ir.CreateFPToSI(in[0], type));
  if (isa<arith::FPToUIOp>(op))
    return ir.CreateFreeze(ir.CreateFPToUI(in[0], type));
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return ir.CreateZExtOrTrunc(in[0], type);
  return ir.CreateSExtOrTrunc(in[0], type); // extsi, trunci, index_cast
}
