// Converts between f32 and fp8 by integer arithmetic on the bits.
// SPDX-License-Identifier: MIT

#include "compiler/math/Fp8.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

#include <bit>
#include <cmath>

using namespace nereid;
using namespace nereid::math;

static constexpr unsigned singleMantissa = 23, singleBias = 127;

math::Fp8Format math::fp8FormatOf(const artifact::ElementInfo &element) {
  using artifact::SpecialValues;
  // OCP 8-bit floating point specification, 1.0; for Fnuz Noune et al., arXiv 2206.02915.
  const uint8_t infinity = ((1u << element.exponentBits) - 1) << element.mantissaBits;
  switch (element.special) {
  case SpecialValues::Ieee:
    return {element.mantissaBits, unsigned(element.bias), uint8_t(infinity - 1), 0x7f, infinity, true};
  case SpecialValues::OneNan:
    return {element.mantissaBits, unsigned(element.bias), 0x7e, 0x7f, 0x7f, true};
  case SpecialValues::Fnuz:
    return {element.mantissaBits, unsigned(element.bias), 0x7f, 0x80, 0x80, false};
  case SpecialValues::None:
    break;
  }
  llvm_unreachable("values of that type are held as their bits");
}

namespace {
/// The types of the lanes, and constants of them.
struct Fp8Lanes {
  llvm::IRBuilderBase &ir;
  llvm::Type *intType, *realType, *byteType;

  Fp8Lanes(llvm::IRBuilderBase &ir, llvm::Value *like) : ir(ir) {
    auto shaped = [&](llvm::Type *element) -> llvm::Type * {
      auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
      return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
    };
    intType = shaped(ir.getInt32Ty());
    realType = shaped(ir.getFloatTy());
    byteType = shaped(ir.getInt8Ty());
  }
  llvm::Constant *integer(uint32_t value) const { return llvm::ConstantInt::get(intType, value); }
  llvm::Constant *real(double value) const { return llvm::ConstantFP::get(realType, value); }
  llvm::Value *bits(llvm::Value *x) const { return ir.CreateBitCast(x, intType); }
  llvm::Value *fromBits(llvm::Value *x) const { return ir.CreateBitCast(x, realType); }
};
} // namespace

/// The exponent of the smallest number of a format.
static int smallestExponent(const Fp8Format &format) {
  return 1 - static_cast<int>(format.bias) - static_cast<int>(format.mantissaBits);
}

/// The f32 bits of an fp8 value that is finite.
static uint32_t singleBits(const Fp8Format &format, unsigned code) {
  return (code << (singleMantissa - format.mantissaBits)) + ((singleBias - format.bias) << singleMantissa);
}

llvm::Value *math::emitFp8ToF32(llvm::IRBuilderBase &ir, llvm::Value *code, const Fp8Format &format) {
  const Fp8Lanes lanes(ir, code);
  const unsigned shift = singleMantissa - format.mantissaBits;
  llvm::Value *wide = ir.CreateZExt(code, lanes.intType);
  llvm::Value *magnitude = ir.CreateAnd(wide, lanes.integer(0x7f));
  llvm::Value *sign = ir.CreateShl(ir.CreateAnd(wide, lanes.integer(0x80)), 24);
  llvm::Value *shifted = ir.CreateShl(magnitude, shift);
  llvm::Value *normal = ir.CreateAdd(shifted, lanes.integer((singleBias - format.bias) << singleMantissa));
  // A shift to an f32 denormal and a multiplication by a power of two would be slow, since processors are slow with
  // denormals.
  llvm::Value *small =
      ir.CreateFMul(ir.CreateSIToFP(magnitude, lanes.realType), lanes.real(std::ldexp(1.0, smallestExponent(format))));
  llvm::Value *isSmall = ir.CreateICmpULT(magnitude, lanes.integer(1u << format.mantissaBits));
  llvm::Value *result = ir.CreateSelect(isSmall, lanes.bits(small), normal);
  if (format.firstSpecial < 0x80) {
    // The exponent of infinity and NaN; the mantissa of an infinity is zero.
    llvm::Value *isSpecial = ir.CreateICmpUGE(magnitude, lanes.integer(format.firstSpecial));
    result = ir.CreateSelect(isSpecial, ir.CreateOr(shifted, lanes.integer(0x7f800000)), result);
  }
  result = ir.CreateOr(result, sign);
  if (!format.hasNegativeZero)
    result = ir.CreateSelect(ir.CreateICmpEQ(wide, lanes.integer(0x80)), lanes.integer(0x7fc00000), result);
  return lanes.fromBits(result);
}

/// fp8 bits of magnitudes from the smallest normal number to the largest.
static llvm::Value *narrowNormal(const Fp8Lanes &lanes, llvm::Value *bits, const Fp8Format &format, bool towardZero) {
  llvm::IRBuilderBase &ir = lanes.ir;
  const unsigned shift = singleMantissa - format.mantissaBits;
  if (!towardZero) {
    llvm::Value *odd = ir.CreateAnd(ir.CreateLShr(bits, shift), lanes.integer(1));
    bits = ir.CreateAdd(bits, ir.CreateAdd(odd, lanes.integer((1u << (shift - 1)) - 1)));
  }
  return ir.CreateSub(ir.CreateLShr(bits, shift), lanes.integer((singleBias - format.bias) << format.mantissaBits));
}

/// fp8 bits of magnitudes below the smallest normal number: the multiple of the smallest number.
static llvm::Value *narrowSmall(const Fp8Lanes &lanes, llvm::Value *magnitude, const Fp8Format &format,
                                bool towardZero) {
  llvm::IRBuilderBase &ir = lanes.ir;
  const int exponent = smallestExponent(format);
  if (towardZero)
    return ir.CreateFPToSI(ir.CreateFMul(magnitude, lanes.real(std::ldexp(1.0, -exponent))), lanes.intType);
  // In a sum with this number the last bit has the weight of the smallest number.
  llvm::Value *shift = lanes.real(std::ldexp(1.0, exponent + static_cast<int>(singleMantissa)));
  return ir.CreateSub(lanes.bits(ir.CreateFAdd(magnitude, shift)), lanes.bits(shift));
}

llvm::Value *math::emitF32ToFp8(llvm::IRBuilderBase &ir, llvm::Value *single, const Fp8Format &format,
                                bool towardZero) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(ir);
  ir.clearFastMathFlags();
  const Fp8Lanes lanes(ir, single);
  llvm::Value *bits = lanes.bits(single);
  llvm::Value *sign = ir.CreateAnd(ir.CreateLShr(bits, 24), lanes.integer(0x80));
  llvm::Value *magnitude =
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir.CreateAnd(bits, lanes.integer(0x7fffffff)),
                               lanes.integer(singleBits(format, format.largest)));
  llvm::Value *isSmall = ir.CreateICmpULT(magnitude, lanes.integer(singleBits(format, 1u << format.mantissaBits)));
  llvm::Value *code = ir.CreateSelect(isSmall, narrowSmall(lanes, lanes.fromBits(magnitude), format, towardZero),
                                      narrowNormal(lanes, magnitude, format, towardZero));
  code = ir.CreateOr(code, sign);
  if (!format.hasNegativeZero)
    code = ir.CreateSelect(ir.CreateICmpEQ(code, lanes.integer(0x80)), lanes.integer(0), code);
  code = ir.CreateSelect(ir.CreateFCmpUNO(single, single), lanes.integer(format.nan), code);
  return ir.CreateTrunc(code, lanes.byteType);
}
