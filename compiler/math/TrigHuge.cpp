// Reduces huge f32 arguments of sine and cosine exactly, in integers (after Payne and Hanek).
// SPDX-License-Identifier: MIT
//
// x = M 2^E with a 32-bit integer M. Of x / pi only the value modulo 2 counts, so the bits of 1/pi whose product with
// 2^E is a multiple of 2 are skipped; the 96 bits after them give 64 bits of x / pi mod 2. The float nearest to a
// multiple of pi/2 misses it by more than 2^-31, so half of those bits remain.

#include "compiler/math/Lanes.h"

#include <array>

namespace nereid::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr uint32_t inversePiWords[] = {0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0, 0x6db14acc, 0x9e21c820};

/// pi/2 * 2^-64
static constexpr double halfPiInFractions = 0x1.921fb54442d18p-64;

/// The bits of 1/pi, starting 31 bits before the binary point: the window of E = -31 starts there.
static uint32_t inversePiWord(unsigned index) { return index == 0 ? 0 : inversePiWords[index - 1]; }

/// Three words of 1/pi, the first bit of which has the weight 2^0 in 2^E / pi; `start` is E + 31, from 0 to 127.
static std::array<llvm::Value *, 3> inversePiWindow(const Lanes &lanes, llvm::Value *start) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *first = ir.CreateLShr(start, 5);
  std::array<llvm::Value *, 4> words;
  for (unsigned n = 0; n < words.size(); ++n) {
    words[n] = lanes.integer(inversePiWord(n));
    for (unsigned i = 1; i <= 3; ++i) {
      llvm::Value *startsAtI = ir.CreateICmpEQ(first, lanes.integer(i));
      words[n] = ir.CreateSelect(startsAtI, lanes.integer(inversePiWord(n + i)), words[n]);
    }
  }
  llvm::Value *shift = ir.CreateAnd(start, lanes.integer(31));
  std::array<llvm::Value *, 3> window;
  for (unsigned n = 0; n < window.size(); ++n)
    window[n] = ir.CreateIntrinsic(llvm::Intrinsic::fshl, {lanes.intType()}, {words[n], words[n + 1], shift});
  return window;
}

/// x / pi modulo 2 in units of 2^-63.
static llvm::Value *halfTurnsModulo2(const Lanes &lanes, llvm::Value *magnitudeBits) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Type *wide = lanes.withElement(ir.getInt64Ty());
  // x = M 2^(field - 158) with the leading bit of M at bit 31.
  llvm::Value *field = ir.CreateLShr(magnitudeBits, 23);
  llvm::Value *mantissa = ir.CreateOr(ir.CreateShl(magnitudeBits, 8), lanes.integer(0x80000000));
  const auto window = inversePiWindow(lanes, ir.CreateSub(field, lanes.integer(158 - 31)));
  llvm::Value *wideMantissa = ir.CreateZExt(mantissa, wide);
  const auto timesWord = [&](unsigned n) { return ir.CreateMul(wideMantissa, ir.CreateZExt(window[n], wide)); };
  llvm::Value *sum = ir.CreateAdd(ir.CreateShl(timesWord(0), 32), timesWord(1));
  return ir.CreateAdd(sum, ir.CreateLShr(timesWord(2), 32));
}

Quarters emitHugeReduction(const Lanes &lanes, llvm::Value *magnitudeBits) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Type *wide = lanes.withElement(ir.getInt64Ty());
  llvm::Type *wideReal = lanes.withElement(ir.getDoubleTy());
  // The top two bits are the quadrant, so the others are a fraction of one; as a signed number it is the distance to
  // the nearest whole quadrant.
  llvm::Value *turns = halfTurnsModulo2(lanes, magnitudeBits);
  llvm::Value *rounded = ir.CreateAdd(turns, llvm::ConstantInt::get(wide, uint64_t{1} << 61));
  llvm::Value *quadrant = ir.CreateTrunc(ir.CreateLShr(rounded, 62), lanes.intType());
  llvm::Value *fraction = ir.CreateSIToFP(ir.CreateShl(turns, 2), wideReal);
  llvm::Value *angle = ir.CreateFMul(fraction, llvm::ConstantFP::get(wideReal, halfPiInFractions));
  return {ir.CreateFPTrunc(angle, lanes.realType()), lanes.real(0), quadrant};
}

} // namespace nereid::math
