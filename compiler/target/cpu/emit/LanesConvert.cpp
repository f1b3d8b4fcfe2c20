// Conversions between floats of lanes as CPUs compute them.
// SPDX-License-Identifier: MIT
//
// A double narrows to 16 bits through a float rounded to odd: the float has at least two more bits than the result, so
// the second rounding is correct.
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/lowering/OpForms.h"
#include "compiler/math/Fp8.h"
#include "compiler/target/cpu/emit/ControlFlow.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

llvm::Value *LaneEmitter::widen(llvm::Value *bits, Type element) {
  if (!isSmallFloat(element))
    return bits;
  if (tt::isFp8(element))
    return math::emitFp8ToF32(ir, bits, lowering::fp8FormatOf(element));
  llvm::Type *single = like(bits, ir.getFloatTy());
  if (element.isF16())
    return ir.CreateFPExt(ir.CreateBitCast(bits, like(bits, ir.getHalfTy())), single);
  llvm::Value *wide = ir.CreateZExt(bits, like(bits, ir.getInt32Ty()));
  return ir.CreateBitCast(ir.CreateShl(wide, 16), single);
}

llvm::Value *LaneEmitter::narrow(llvm::Value *value, Type element) {
  if (!isSmallFloat(element))
    return value;
  if (value->getType()->getScalarType()->isDoubleTy())
    value = roundToOdd(value);
  return roundSingle(value, element, /*towardZero=*/false);
}

llvm::Value *LaneEmitter::roundSingle(llvm::Value *single, Type to, bool towardZero) {
  if (tt::isFp8(to))
    return math::emitF32ToFp8(ir, single, lowering::fp8FormatOf(to), towardZero);
  return to.isF16() ? roundHalf(single, towardZero) : roundBfloat(single, towardZero);
}

llvm::Value *LaneEmitter::roundHalf(llvm::Value *single, bool towardZero) {
  llvm::Value *half = ir.CreateFPTrunc(single, like(single, ir.getHalfTy()));
  llvm::Value *bits = ir.CreateBitCast(half, like(single, ir.getInt16Ty()));
  if (!towardZero)
    return bits;
  // A result rounded away from zero steps back by one; an infinity from a finite number becomes the largest finite one.
  return towardZeroBits(single, half, bits);
}

static constexpr unsigned registerLanes = 16; ///< floats in 512 bits

llvm::Value *LaneEmitter::roundBfloat(llvm::Value *single, bool towardZero) {
  auto *vector = dyn_cast<llvm::FixedVectorType>(single->getType());
  const bool fillsRegisters = vector && vector->getNumElements() % registerLanes == 0;
  if (towardZero || !machine.hasAvx512Bf16 || !fillsRegisters)
    return roundBfloatBits(single, towardZero);
  SmallVector<llvm::Value *> parts;
  for (unsigned first = 0; first < vector->getNumElements(); first += registerLanes)
    parts.push_back(ir.CreateShuffleVector(single, llvm::createSequentialMask(first, registerLanes, 0)));
  llvm::Value *rounded = ir.CreateBitCast(roundByInstruction(parts), like(single, ir.getInt16Ty()));
  return unlessDenormal(parts, rounded, [&] { return roundBfloatBits(single, /*towardZero=*/false); });
}

llvm::Value *LaneEmitter::roundByInstruction(ArrayRef<llvm::Value *> parts) {
  using namespace llvm::Intrinsic;
  SmallVector<llvm::Value *> rounded;
  if (parts.size() % 2)
    for (llvm::Value *part : parts)
      rounded.push_back(ir.CreateIntrinsic(x86_avx512bf16_cvtneps2bf16_512, {}, ArrayRef(part)));
  else
    for (size_t index = 0; index < parts.size(); index += 2)
      rounded.push_back(ir.CreateIntrinsic(x86_avx512bf16_cvtne2ps2bf16_512, {}, {parts[index + 1], parts[index]}));
  return llvm::concatenateVectors(ir, rounded);
}

/// `value`, or what `otherwise` emits where any part has a denormal, which the instruction takes as zero. The test sees
/// none where MXCSR.DAZ is set; the launcher clears it.
llvm::Value *LaneEmitter::unlessDenormal(ArrayRef<llvm::Value *> parts, llvm::Value *value,
                                         llvm::function_ref<llvm::Value *()> otherwise) {
  constexpr unsigned denormal = 0x20; // of vfpclassps
  llvm::Value *any = nullptr;
  for (llvm::Value *part : parts) {
    llvm::Value *isDenormal =
        ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_fpclass_ps_512, {}, {part, ir.getInt32(denormal)});
    any = any ? ir.CreateOr(any, isDenormal) : isDenormal;
  }
  any = ir.CreateOrReduce(any);
  const llvm::DebugLoc location = ir.getCurrentDebugLocation();
  llvm::BasicBlock *after = splitHere(ir, "rounded"), *before = ir.GetInsertBlock();
  auto *rare = llvm::BasicBlock::Create(ir.getContext(), "denormals", before->getParent(), after);
  ir.CreateCondBr(any, rare, after, llvm::MDBuilder(ir.getContext()).createUnlikelyBranchWeights());
  ir.SetInsertPoint(rare);
  llvm::Value *other = otherwise();
  ir.CreateBr(after);
  ir.SetInsertPoint(after, after->begin());
  ir.SetCurrentDebugLocation(location);
  llvm::PHINode *result = ir.CreatePHI(value->getType(), 2);
  result->addIncoming(value, before);
  result->addIncoming(other, rare);
  return result;
}

llvm::Value *LaneEmitter::roundBfloatBits(llvm::Value *single, bool towardZero) {
  llvm::Type *wide = like(single, ir.getInt32Ty());
  auto integer = [&](uint32_t value) { return llvm::ConstantInt::get(wide, value); };
  llvm::Value *bits = ir.CreateBitCast(single, wide);
  llvm::Value *rounded = bits;
  if (!towardZero) {
    llvm::Value *odd = ir.CreateAnd(ir.CreateLShr(bits, 16), integer(1));
    rounded = ir.CreateAdd(bits, ir.CreateAdd(odd, integer(0x7fff)));
  }
  // A NaN keeps its sign and upper bits and stays a NaN.
  llvm::Value *quiet = ir.CreateOr(bits, integer(0x400000));
  llvm::Value *result = ir.CreateSelect(ir.CreateFCmpUNO(single, single), quiet, rounded);
  return ir.CreateTrunc(ir.CreateLShr(result, 16), like(single, ir.getInt16Ty()));
}

llvm::Value *LaneEmitter::roundToOdd(llvm::Value *value) {
  llvm::Value *single = ir.CreateFPTrunc(value, like(value, ir.getFloatTy()));
  llvm::Value *back = ir.CreateFPExt(single, value->getType());
  llvm::Value *bits = ir.CreateBitCast(single, like(value, ir.getInt32Ty()));
  llvm::Value *odd = ir.CreateOr(towardZeroBits(value, single, bits), llvm::ConstantInt::get(bits->getType(), 1));
  return ir.CreateBitCast(ir.CreateSelect(ir.CreateFCmpONE(back, value), odd, bits), single->getType());
}

llvm::Value *LaneEmitter::convertFloat(llvm::Value *value, Type from, Type to, bool towardZero) {
  value = widen(value, from);
  if (isSmallFloat(to)) {
    if (value->getType()->getScalarType()->isDoubleTy())
      value = roundToOdd(value);
    return roundSingle(value, to, towardZero);
  }
  llvm::Type *type = like(value, typeOf(to, 1));
  if (value->getType() == type)
    return value;
  if (to.isF64())
    return ir.CreateFPExt(value, type);
  llvm::Value *single = ir.CreateFPTrunc(value, type);
  if (!towardZero)
    return single;
  return ir.CreateBitCast(towardZeroBits(value, single), type);
}

llvm::Value *LaneEmitter::intToFloat(llvm::Value *value, Type to, bool isSigned) {
  // Through f64 only where f32 does not hold every integer, to avoid double rounding.
  const bool needsDouble = isSmallFloat(to) && value->getType()->getScalarSizeInBits() > 16;
  llvm::Type *type = like(value, to.isF64() || needsDouble ? ir.getDoubleTy() : ir.getFloatTy());
  if (needsDouble)
    value = lowering::roundToDouble(ir, value, isSigned);
  llvm::Value *real = isSigned ? ir.CreateSIToFP(value, type) : ir.CreateUIToFP(value, type);
  return narrow(real, to);
}
