// Emits sin and cos.
// SPDX-License-Identifier: MIT
//
// x = q pi/2 + r with |r| <= pi/4. The low bits of the quadrant q choose between the polynomials of sin r and cos r,
// and the sign; cosine is sine one quadrant further, counted after the reduction, which is then shared where a kernel
// needs both. Below 2^20 the reduction is done in the argument's format (in f64 where there is no FMA); larger
// arguments take a rare path with an exact one, unless their computation shows that they are smaller.

#include "compiler/math/FloatRange.h"
#include "compiler/math/Lanes.h"

#include <limits>
#include <utility>

namespace nereid::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr double sinTail[] = {-0x1.555542p-3f, 0x1.1105e2p-7f, -0x1.98cb5cp-13f};
static constexpr double cosTail[] = {0x1.555548p-5f, -0x1.6c0ae2p-10f, 0x1.998868p-16f};
static constexpr double halfPiParts[] = {0x1.921fb4p0f, 0x1.4442dp-24f, 0x1.846988p-48f};
static constexpr double wideSinTail[] = {-0x1.5555555555555p-3, 0x1.1111111111107p-7,   -0x1.a01a01a018087p-13,
                                         0x1.71de3a5267f65p-19, -0x1.ae64518e4e9d7p-26, 0x1.611fed7a828f8p-33,
                                         -0x1.aa555e537d68fp-41};
static constexpr double wideCosTail[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16c0cp-10, 0x1.a01a01a0185aep-16,
                                         -0x1.27e4fb75737a7p-22, 0x1.1eed8c0c24f55p-29,  -0x1.9392909fdeef5p-37,
                                         0x1.aa7bf684d12f3p-45};
static constexpr double wideHalfPiParts[] = {0x1.921fb54442d18p0, 0x1.1a62633145c06p-54, 0x1.c1cd129024e08p-107};
static constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
static constexpr double largestDirect = 0x1p20;
/// The first 33 bits of pi/2, whose product with a 20-bit integer is exact in f64, and the rest.
static constexpr double halfPiHigh = 0x1.921fb544p0;
static constexpr double halfPiLow = 0x1.0b4611a626331p-34;

/// x - k pi/2 as a sum of two. With FMA the first step is exact, the second rounds relative to the result, and the
/// third is added last, to terms of its size.
static std::pair<llvm::Value *, llvm::Value *> subtractQuarters(const Lanes &lanes, llvm::Value *x, llvm::Value *k) {
  if (lanes.host().hasFma) {
    const llvm::ArrayRef<double> parts = lanes.pick(halfPiParts, wideHalfPiParts);
    llvm::Value *angle = lanes.mulAdd(k, lanes.real(-parts[0]), x);
    angle = lanes.mulAdd(k, lanes.real(-parts[1]), angle);
    return {angle, lanes.mul(k, lanes.real(-parts[2]))};
  }
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Type *wide = lanes.withElement(ir.getDoubleTy());
  llvm::Value *wideK = ir.CreateFPExt(k, wide);
  llvm::Value *angle = ir.CreateFPExt(x, wide);
  for (const double part : {halfPiHigh, halfPiLow})
    angle = ir.CreateFSub(angle, ir.CreateFMul(wideK, llvm::ConstantFP::get(wide, part)));
  return {ir.CreateFPTrunc(angle, lanes.realType()), lanes.real(0)};
}

static Quarters reduceDirectly(const Lanes &lanes, llvm::Value *x) {
  llvm::Constant *shift = lanes.real(lanes.roundingShift());
  llvm::Value *shifted = lanes.mulAdd(x, lanes.real(twoOverPi), shift);
  const auto [angle, rest] = subtractQuarters(lanes, x, lanes.sub(shifted, shift));
  return {angle, rest, lanes.bits(shifted)};
}

/// Replaces lanes at or above `largestDirect` by the exact reduction.
static ValueList reduceHugeLanes(const Lanes &lanes, const Quarters &direct, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  // Infinity keeps the direct result, which is NaN.
  llvm::Value *magnitudeBits = lanes.bits(x);
  llvm::Value *isHuge = ir.CreateAnd(ir.CreateFCmpOGE(x, lanes.real(largestDirect)),
                                     ir.CreateFCmpOLT(x, lanes.real(std::numeric_limits<double>::infinity())));
  const Quarters exact =
      lanes.isWide() ? emitWideHugeReduction(lanes, magnitudeBits) : emitHugeReduction(lanes, magnitudeBits);
  return {ir.CreateSelect(isHuge, exact.angle, direct.angle), ir.CreateSelect(isHuge, exact.rest, direct.rest),
          ir.CreateSelect(isHuge, exact.quadrant, direct.quadrant)};
}

static Quarters reduce(const Lanes &lanes, llvm::Value *positive) {
  const Quarters direct = reduceDirectly(lanes, positive);
  if (floatRange(positive).high < largestDirect)
    return direct;
  llvm::Value *isHuge = lanes.builder().CreateFCmpOGE(positive, lanes.real(largestDirect));
  const ValueList reduced = emitRarePath(lanes, isHuge, {direct.angle, direct.rest, direct.quadrant},
                                         [&] { return reduceHugeLanes(lanes, direct, positive); });
  return {reduced[0], reduced[1], reduced[2]};
}

static llvm::Value *sinOrCosOf(const Lanes &lanes, const Quarters &reduced) {
  llvm::IRBuilderBase &ir = lanes.builder();
  const auto [r, rest, quadrant] = reduced;
  llvm::Value *square = lanes.mul(r, r);
  llvm::Value *beyondR =
      lanes.mulAdd(lanes.polynomial(square, lanes.pick(sinTail, wideSinTail)), lanes.mul(r, square), rest);
  llvm::Value *sine = lanes.add(r, beyondR);
  llvm::Value *beyondOne =
      lanes.mulAdd(lanes.polynomial(square, lanes.pick(cosTail, wideCosTail)), square, lanes.real(-0.5));
  llvm::Value *cosine = lanes.mulAdd(beyondOne, square, lanes.real(1));
  llvm::Value *isOdd = ir.CreateICmpSLT(ir.CreateShl(quadrant, lanes.signPosition()), lanes.integer(0));
  return ir.CreateSelect(isOdd, cosine, sine);
}

static llvm::Value *emitSineOrCosine(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host,
                                     bool isCosine) {
  const Lanes lanes(builder, x, host);
  // The reduction works on |x|: sums like r + r^3 p lose the sign of zero.
  Quarters reduced = reduce(lanes, lanes.magnitude(x));
  if (isCosine)
    reduced.quadrant = builder.CreateAdd(reduced.quadrant, lanes.integer(1));
  llvm::Value *value = sinOrCosOf(lanes, reduced);
  llvm::Value *flip = lanes.signBit(builder.CreateShl(reduced.quadrant, lanes.signPosition() - 1));
  if (!isCosine)
    flip = builder.CreateXor(flip, lanes.signOf(x));
  return lanes.fromBits(builder.CreateXor(lanes.bits(value), flip));
}

llvm::Value *emitSin(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  return usesLibm(x, host) ? emitLibmCalls(builder, "sin", x) : emitSineOrCosine(builder, x, host, false);
}

llvm::Value *emitCos(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  return usesLibm(x, host) ? emitLibmCalls(builder, "cos", x) : emitSineOrCosine(builder, x, host, true);
}

} // namespace nereid::math
