// Emits exp, exp2 and expm1.
// SPDX-License-Identifier: MIT
//
// e^x = 2^k e^r with k = round(x / ln 2). Adding 1.5 * 2^23 rounds x / ln 2 and leaves k in the low bits of the sum,
// plus whatever small integer the shift carries: an exponent bias costs nothing that way.

#include "compiler/target/cpu/math/Lanes.h"

#include <bit>

namespace nereid::cpu::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr float expTail[] = {0x1.fffffep-2f, 0x1.5554aep-3f, 0x1.5556fp-5f, 0x1.122a72p-7f, 0x1.6ba49ap-10f};
static constexpr float exp2Tail[] = {0x1.62e43p-1f, 0x1.ebfbdcp-3f,  0x1.c6af7cp-5f,
                                     0x1.3b2dep-7f, 0x1.5f082ep-10f, 0x1.416b58p-13f};
static constexpr float ln2Parts[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
static constexpr float log2e = 0x1.715476p0f;

llvm::Value *emitExpLessOne(const Lanes &lanes, llvm::Value *r) {
  llvm::Value *square = lanes.mul(r, r);
  return lanes.mulAdd(lanes.polynomial(r, square, expTail), square, r);
}

llvm::Value *emitExp2OfFraction(const Lanes &lanes, llvm::Value *r) {
  return lanes.mulAdd(lanes.polynomial(r, exp2Tail), r, lanes.real(1.0f));
}

namespace {
/// x = k ln 2 + r. The low bits of `shifted` hold k + bias, `r` is within ln(2)/2 of zero.
struct Reduced {
  llvm::Value *shifted;
  llvm::Value *r;
};
} // namespace

static Reduced reduceByLn2(const Lanes &lanes, llvm::Value *x, float bias) {
  llvm::Constant *shift = lanes.real(roundingShift + bias);
  llvm::Value *shifted = lanes.mulAdd(x, lanes.real(log2e), shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  // k times the first part is exact without FMA too: 8 bits times 15.
  llvm::Value *r = lanes.mulAdd(k, lanes.real(-ln2Parts[0]), x);
  return {shifted, lanes.mulAdd(k, lanes.real(-ln2Parts[1]), r)};
}

// 2^k needs two factors: k reaches 128 for finite results, and -150 for denormal ones. The outer factor is 2^64 or
// 2^-64 by the sign of x; the inner one's exponent field is then in range, and only the last product rounds.
static constexpr float scaleBias = 254;
static constexpr uint32_t outerUp = (127 + 64) << 23;
static constexpr uint32_t outerDown = (127 - 64) << 23;

static llvm::Value *scaleByPower(const Lanes &lanes, llvm::Value *value, llvm::Value *shifted, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *low = lanes.bits(shifted);
  if (lanes.host().hasAvx512) {
    // One vscalefps after a conversion.
    llvm::Value *k = ir.CreateSub(low, lanes.integer(std::bit_cast<uint32_t>(roundingShift + scaleBias)));
    return ir.CreateIntrinsic(llvm::Intrinsic::ldexp, {lanes.realType(), lanes.intType()}, {value, k});
  }
  llvm::Value *isNegative = ir.CreateICmpSLT(lanes.bits(x), lanes.integer(0));
  llvm::Value *outer = ir.CreateSelect(isNegative, lanes.integer(outerDown), lanes.integer(outerUp));
  llvm::Value *inner = ir.CreateSub(ir.CreateShl(low, 23), outer);
  return lanes.mul(lanes.mul(value, lanes.fromBits(inner)), lanes.fromBits(outer));
}

llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "exp", x);
  const Lanes lanes(builder, x, host);
  // Beyond these bounds the result is 0 or infinity already.
  llvm::Value *bounded = lanes.atLeast(lanes.atMost(x, 89.0f), -104.5f);
  const auto [shifted, r] = reduceByLn2(lanes, bounded, scaleBias);
  llvm::Constant *one = lanes.real(1.0f);
  llvm::Value *value = lanes.mulAdd(lanes.mulAdd(lanes.polynomial(r, expTail), r, one), r, one);
  return scaleByPower(lanes, value, shifted, x);
}

llvm::Value *emitExp2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "exp2", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *bounded = lanes.atLeast(lanes.atMost(x, 129.0f), -151.0f);
  llvm::Constant *shift = lanes.real(roundingShift + scaleBias);
  llvm::Value *shifted = lanes.add(bounded, shift);
  llvm::Value *r = lanes.sub(bounded, lanes.sub(shifted, shift));
  return scaleByPower(lanes, emitExp2OfFraction(lanes, r), shifted, x);
}

// e^x - 1 = 2^k (e^r - 1) + (2^k - 1). For k = 128 the power is halved and the sum doubled.
llvm::Value *emitExpm1(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "expm1", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *bounded = lanes.atLeast(lanes.atMost(x, 89.0f), -20.0f);
  const auto [shifted, r] = reduceByLn2(lanes, bounded, 127);
  llvm::Value *rest = emitExpLessOne(lanes, r);

  llvm::Value *isTop = builder.CreateFCmpOGE(shifted, lanes.real(roundingShift + 127 + 128));
  llvm::Value *low = builder.CreateAdd(lanes.bits(shifted), builder.CreateSExt(isTop, lanes.intType()));
  llvm::Value *power = lanes.fromBits(builder.CreateShl(low, 23));
  llvm::Value *less = builder.CreateSelect(isTop, lanes.real(0.0f), lanes.real(1.0f));
  llvm::Value *sum = lanes.mulAdd(power, rest, lanes.sub(power, less));
  llvm::Value *result = builder.CreateSelect(isTop, lanes.add(sum, sum), sum);
  // e^x - 1 has the sign of x; only -0 needs it.
  return lanes.withSign(result, lanes.signOf(x));
}

} // namespace nereid::cpu::math
