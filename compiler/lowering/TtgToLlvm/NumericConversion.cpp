// Conversions between floats of elements as GPUs compute them.
// SPDX-License-Identifier: MIT
//
// Conversions between floats go through f32. A double narrows through an f32 rounded to odd: with at least two more
// bits than the result has, the second rounding is then correct.
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

#include "compiler/lowering/OpForms.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

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
  if (tt::isFp8(from)) {
    llvm::Value *byInstruction = target.widenFp8(ir, value, from);
    return byInstruction ? byInstruction : math::emitFp8ToF32(ir, value, fp8FormatOf(from));
  }
  return value->getType()->isFloatTy() ? value : ir.CreateFPExt(value, ir.getFloatTy());
}

llvm::Value *ElementEmitter::roundSingle(llvm::Value *single, Type to, bool towardZero) {
  if (to.isF32())
    return single;
  if (to.isF64())
    return ir.CreateFPExt(single, ir.getDoubleTy());
  if (tt::isFp8(to)) {
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

llvm::Value *ElementEmitter::convertFloat(llvm::Value *value, Type from, Type to, bool towardZero) {
  if (from == to)
    return value;
  if (!from.isF64()) {
    llvm::Value *single = toSingle(value, from);
    return single ? roundSingle(single, to, towardZero) : nullptr;
  }
  if (to.isF32())
    return narrowDouble(value, towardZero);
  if (to.isF16() && !towardZero)
    return ir.CreateFPTrunc(value, ir.getHalfTy());
  return roundSingle(towardZero ? narrowDouble(value, true) : roundToOdd(value), to, towardZero);
}

llvm::Value *ElementEmitter::convert(llvm::Value *value, Type from, Type to) {
  return isa<FloatType>(to) ? convertFloat(value, from, to, /*towardZero=*/false)
                            : ir.CreateSExtOrTrunc(value, typeOf(to));
}

llvm::Value *ElementEmitter::intToFloat(llvm::Value *value, Type to, bool isSigned) {
  if (tt::isFp8(to))
    return nullptr;
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

llvm::Value *ElementEmitter::asReal(llvm::Value *value, Type from) { return tt::isFp8(from) ? nullptr : value; }
