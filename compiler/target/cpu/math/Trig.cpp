// Emits sin and cos.
// SPDX-License-Identifier: MIT
//
// sin x = (-1)^k sin(x - k pi), with k the integer nearest to x / pi; cosine is the same with a half-integer k. One odd
// polynomial serves both. Below 2^20 the reduction is done in f32 (or f64 where there is no FMA); if any lane is larger,
// a branch replaces those lanes by an exact reduction.

#include "compiler/target/cpu/math/Lanes.h"

#include <utility>

namespace nereid::cpu::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr float sinTail[] = {-0x1.555556p-3f, 0x1.11113p-7f, -0x1.a020a2p-13f, 0x1.724d12p-19f, -0x1.a96b88p-26f};
static constexpr float piParts[] = {0x1.921fb4p1f, 0x1.4442dp-23f, 0x1.846988p-47f};
static constexpr float inversePi = 0x1.45f306p-2f;
static constexpr float largestDirect = 0x1p20f;
/// The first 33 bits of pi, whose product with a 20-bit integer is exact, and the rest.
static constexpr double piHigh = 0x1.921fb544p1;
static constexpr double piLow = 0x1.0b4611a626331p-33;

/// |x| - k pi as a sum of two. With FMA the first step is exact, the second rounds relative to the result, and the third
/// is left to the end, where it meets terms of its size.
static std::pair<llvm::Value *, llvm::Value *> subtractTurns(const Lanes &lanes, llvm::Value *x, llvm::Value *k) {
  if (lanes.host().hasFma) {
    llvm::Value *rest = lanes.mulAdd(k, lanes.real(-piParts[0]), x);
    rest = lanes.mulAdd(k, lanes.real(-piParts[1]), rest);
    return {rest, lanes.mul(k, lanes.real(-piParts[2]))};
  }
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Type *wide = lanes.withElement(ir.getDoubleTy());
  llvm::Value *wideK = ir.CreateFPExt(k, wide);
  llvm::Value *rest = ir.CreateFPExt(x, wide);
  for (const double part : {piHigh, piLow})
    rest = ir.CreateFSub(rest, ir.CreateFMul(wideK, llvm::ConstantFP::get(wide, part)));
  return {ir.CreateFPTrunc(rest, lanes.realType()), lanes.real(0.0f)};
}

static HalfTurns reduceDirectly(const Lanes &lanes, llvm::Value *x, bool forCosine) {
  llvm::Constant *shift = lanes.real(roundingShift);
  llvm::Constant *half = lanes.real(0.5f);
  llvm::Value *shifted = nullptr;
  llvm::Value *k = nullptr;
  if (forCosine) {
    shifted = lanes.add(lanes.mulAdd(x, lanes.real(inversePi), half), shift);
    k = lanes.sub(lanes.sub(shifted, shift), half);
  } else {
    shifted = lanes.mulAdd(x, lanes.real(inversePi), shift);
    k = lanes.sub(shifted, shift);
  }
  llvm::Value *oddSign = lanes.builder().CreateShl(lanes.bits(shifted), 31);
  const auto [angle, rest] = subtractTurns(lanes, x, k);
  return {angle, rest, oddSign};
}

/// Replaces lanes at or above `largestDirect` by the exact reduction.
static ValueList reduceHugeLanes(const Lanes &lanes, const HalfTurns &direct, llvm::Value *x,
                                 bool forCosine) {
  llvm::IRBuilderBase &ir = lanes.builder();
  // Infinity keeps the direct result, which is NaN.
  llvm::Value *magnitudeBits = lanes.bits(x);
  llvm::Value *isHuge = ir.CreateAnd(ir.CreateFCmpOGE(x, lanes.real(largestDirect)),
                                     ir.CreateICmpULT(magnitudeBits, lanes.integer(0x7f800000)));
  const HalfTurns exact = emitHugeReduction(lanes, magnitudeBits, forCosine);
  return {ir.CreateSelect(isHuge, exact.angle, direct.angle), ir.CreateSelect(isHuge, exact.rest, direct.rest),
          ir.CreateSelect(isHuge, exact.oddSign, direct.oddSign)};
}

static llvm::Value *emitSineOrCosine(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host, bool forCosine) {
  const Lanes lanes(builder, x, host);
  // The reduction works on |x|: sums like r + r^3 p lose the sign of zero.
  llvm::Value *positive = lanes.magnitude(x);
  const HalfTurns direct = reduceDirectly(lanes, positive, forCosine);
  llvm::Value *isHuge = builder.CreateFCmpOGE(positive, lanes.real(largestDirect));
  const auto reduced = emitRarePath(lanes, isHuge, {direct.angle, direct.rest, direct.oddSign},
                                    [&] { return reduceHugeLanes(lanes, direct, positive, forCosine); });
  llvm::Value *r = reduced[0];
  llvm::Value *oddSign = reduced[2];
  llvm::Value *square = lanes.mul(r, r);
  llvm::Value *small = lanes.mulAdd(lanes.polynomial(square, sinTail), lanes.mul(r, square), reduced[1]);
  llvm::Value *value = lanes.add(r, small);
  llvm::Value *flip = forCosine ? oddSign : builder.CreateXor(oddSign, lanes.signOf(x));
  return lanes.fromBits(builder.CreateXor(lanes.bits(value), flip));
}

llvm::Value *emitSin(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  return isDouble(x) ? emitLibmCalls(builder, "sin", x) : emitSineOrCosine(builder, x, host, false);
}

llvm::Value *emitCos(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  return isDouble(x) ? emitLibmCalls(builder, "cos", x) : emitSineOrCosine(builder, x, host, true);
}

} // namespace nereid::cpu::math
