// Reduces huge f64 arguments of sine and cosine exactly, in integers (after Payne and Hanek).
// SPDX-License-Identifier: MIT
//
// As for f32, with 64-bit words: x = M 2^E with a 64-bit integer M, and 192 bits of 1/pi give 128 bits of x / pi
// modulo 2. The f64 nearest to a multiple of pi/2 misses it by more than 2^-62, so 64 bits remain.

#include "compiler/math/Lanes.h"

#include "llvm/IR/Module.h"

#include <array>

namespace nereid::math {

// The words are printed by scripts/fit_math.py. A zero word precedes them: the window of E = -63 starts there.
static constexpr uint64_t wideInversePiWords[] = {
    0x517cc1b727220a94, 0xfe13abe8fa9a6ee0, 0x6db14acc9e21c820, 0xff28b1d5ef5de2b0, 0xdb92371d2126e970,
    0x0324977504e8c90e, 0x7f0ef58e5894d39f, 0x74411afa975da242, 0x74ce38135a2fbf20, 0x9cc8eb1cc1a99cfa,
    0x4e422fc5defc941d, 0x8ffc4bffef02cc07, 0xf79788c5ad05368f, 0xb69b3f6793e584db, 0xa7a31fb34f2ff516,
    0xba93dd63f5f2f8bd, 0x9e839cfbc5294975, 0x35fdafd88fc6ae84, 0x2b0198237e3db5d5, 0xf867de104d7a1b0e};

/// pi/2 as a sum of two.
static constexpr double halfPi = 0x1.921fb54442d18p0, halfPiRest = 0x1.1a62633145c07p-54;

static llvm::GlobalVariable *wordTable(llvm::Module &module) {
  static constexpr char name[] = "nereid.inverse_pi";
  if (llvm::GlobalVariable *known = module.getGlobalVariable(name, /*AllowInternal=*/true))
    return known;
  llvm::SmallVector<uint64_t> words = {0};
  words.append(std::begin(wideInversePiWords), std::end(wideInversePiWords));
  llvm::Constant *data = llvm::ConstantDataArray::get(module.getContext(), words);
  return new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                  data, name);
}

/// Three words of 1/pi, the first bit of which has the weight 2^0 in 2^E / pi; `start` is E + 63.
static std::array<llvm::Value *, 3> inversePiWindow(llvm::IRBuilderBase &ir, llvm::Value *start) {
  llvm::GlobalVariable *table = wordTable(*ir.GetInsertBlock()->getModule());
  llvm::Value *first = ir.CreateLShr(start, 6);
  std::array<llvm::Value *, 4> words;
  for (unsigned n = 0; n < words.size(); ++n) {
    llvm::Value *index = ir.CreateAdd(first, ir.getInt64(n));
    words[n] = ir.CreateLoad(ir.getInt64Ty(), ir.CreateInBoundsGEP(ir.getInt64Ty(), table, index));
  }
  llvm::Value *shift = ir.CreateAnd(start, ir.getInt64(63));
  std::array<llvm::Value *, 3> window;
  for (unsigned n = 0; n < window.size(); ++n)
    window[n] = ir.CreateIntrinsic(llvm::Intrinsic::fshl, {ir.getInt64Ty()}, {words[n], words[n + 1], shift});
  return window;
}

/// x / pi modulo 2 in units of 2^-127.
static llvm::Value *halfTurnsModulo2(llvm::IRBuilderBase &ir, llvm::Value *magnitudeBits) {
  llvm::Type *wide = ir.getInt128Ty();
  // x = M 2^(field - 1086) with the leading bit of M at bit 63.
  llvm::Value *field = ir.CreateLShr(magnitudeBits, 52);
  llvm::Value *mantissa = ir.CreateOr(ir.CreateShl(magnitudeBits, 11), ir.getInt64(uint64_t{1} << 63));
  // Lanes that do not take this path may hold any bits; the table index is clamped to its bounds.
  llvm::Value *start = ir.CreateSub(field, ir.getInt64(1086 - 63));
  start = ir.CreateSelect(ir.CreateICmpULT(start, ir.getInt64(1024)), start, ir.getInt64(0));
  const auto window = inversePiWindow(ir, start);
  llvm::Value *wideMantissa = ir.CreateZExt(mantissa, wide);
  const auto timesWord = [&](unsigned n) { return ir.CreateMul(wideMantissa, ir.CreateZExt(window[n], wide)); };
  llvm::Value *sum = ir.CreateAdd(ir.CreateShl(timesWord(0), 64), timesWord(1));
  return ir.CreateAdd(sum, ir.CreateLShr(timesWord(2), 64));
}

/// `magnitude` 2^-128 times pi/2, as a sum of two; the magnitude is not 0 and below 2^127.
static std::pair<llvm::Value *, llvm::Value *> timesHalfPi(const Lanes &lanes, llvm::Value *magnitude) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *zeros = ir.CreateIntrinsic(llvm::Intrinsic::ctlz, {ir.getInt128Ty()}, {magnitude, ir.getTrue()});
  llvm::Value *top = ir.CreateTrunc(ir.CreateLShr(ir.CreateShl(magnitude, zeros), 64), ir.getInt64Ty());
  // The top 53 bits and the 11 after them are exact in f64 each.
  llvm::Value *low = ir.CreateAnd(top, ir.getInt64(2047));
  llvm::Value *high = ir.CreateUIToFP(ir.CreateXor(top, low), lanes.realType());
  llvm::Value *rest = ir.CreateUIToFP(low, lanes.realType());
  llvm::Value *angle = lanes.mul(high, lanes.real(halfPi));
  llvm::Value *lost = lanes.mulAdd(high, lanes.real(halfPi), lanes.neg(angle));
  lost = lanes.mulAdd(high, lanes.real(halfPiRest), lost);
  lost = lanes.mulAdd(rest, lanes.real(halfPi), lost);
  // The first number of the sum is rounded to the nearest one.
  llvm::Value *sum = lanes.add(angle, lost);
  lost = lanes.sub(lost, lanes.sub(sum, angle));
  // 2^(-64 - zeros)
  llvm::Value *exponent = ir.CreateSub(ir.getInt64(1023 - 64), ir.CreateTrunc(zeros, ir.getInt64Ty()));
  llvm::Value *power = lanes.fromBits(ir.CreateShl(exponent, 52));
  return {lanes.mul(sum, power), lanes.mul(lost, power)};
}

Quarters emitWideHugeReduction(const Lanes &lanes, llvm::Value *magnitudeBits) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Type *wide = ir.getInt128Ty();
  llvm::Value *turns = halfTurnsModulo2(ir, magnitudeBits);
  llvm::Value *quarter = llvm::ConstantInt::get(wide, llvm::APInt::getOneBitSet(128, 125));
  llvm::Value *quadrant = ir.CreateTrunc(ir.CreateLShr(ir.CreateAdd(turns, quarter), 126), ir.getInt64Ty());
  // As a signed number the fraction of a quadrant is the distance to the nearest whole one.
  llvm::Value *fraction = ir.CreateShl(turns, 2);
  llvm::Value *isNegative = ir.CreateICmpSLT(fraction, llvm::ConstantInt::get(wide, 0));
  llvm::Value *magnitude = ir.CreateSelect(isNegative, ir.CreateNeg(fraction), fraction);
  magnitude = ir.CreateOr(magnitude, llvm::ConstantInt::get(wide, 1));
  const auto [angle, rest] = timesHalfPi(lanes, magnitude);
  return {ir.CreateSelect(isNegative, lanes.neg(angle), angle), ir.CreateSelect(isNegative, lanes.neg(rest), rest),
          quadrant};
}

} // namespace nereid::math
