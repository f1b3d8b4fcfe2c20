// Emits exp, exp2 and expm1.
// SPDX-License-Identifier: MIT
//
// e^x = 2^k e^r with k = round(x / ln 2). Adding 1.5 * 2^23 rounds x / ln 2 and leaves k in the low bits of the sum,
// plus whatever small integer the shift carries: an exponent bias costs nothing that way.

#include "compiler/target/cpu/math/Lanes.h"

#include "llvm/IR/IntrinsicsX86.h"

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
  llvm::Value *k;
  llvm::Value *r;
};
} // namespace

static Reduced reduceByLn2(const Lanes &lanes, llvm::Value *x, float bias) {
  llvm::Constant *shift = lanes.real(roundingShift + bias);
  llvm::Value *shifted = lanes.mulAdd(x, lanes.real(log2e), shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  // k times the first part is exact without FMA too: 8 bits times 15.
  llvm::Value *r = lanes.mulAdd(k, lanes.real(-ln2Parts[0]), x);
  return {shifted, k, lanes.mulAdd(k, lanes.real(-ln2Parts[1]), r)};
}

// 2^k needs two factors: k reaches 128 for finite results, and -150 for denormal ones. The outer factor is 2^64 or
// 2^-64 by the sign of x; the inner one's exponent field is then in range, and only the last product rounds.
static constexpr float scaleBias = 254;
static constexpr uint32_t outerUp = (127 + 64) << 23;
static constexpr uint32_t outerDown = (127 - 64) << 23;

static llvm::Value *scaleByPower(const Lanes &lanes, llvm::Value *value, llvm::Value *shifted, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *low = lanes.bits(shifted);
  llvm::Value *isNegative = ir.CreateICmpSLT(lanes.bits(x), lanes.integer(0));
  llvm::Value *outer = ir.CreateSelect(isNegative, lanes.integer(outerDown), lanes.integer(outerUp));
  llvm::Value *inner = ir.CreateSub(ir.CreateShl(low, 23), outer);
  return lanes.mul(lanes.mul(value, lanes.fromBits(inner)), lanes.fromBits(outer));
}

/// The intrinsic of vscalefps for a register of so many lanes; none for other counts.
static llvm::Intrinsic::ID scaleIntrinsic(unsigned count) {
  switch (count) {
  case 16:
    return llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
  case 8:
    return llvm::Intrinsic::x86_avx512_mask_scalef_ps_256;
  case 4:
    return llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
  default:
    return llvm::Intrinsic::not_intrinsic;
  }
}

static llvm::Value *scaleRegister(llvm::IRBuilderBase &ir, llvm::Value *value, llvm::Value *k, llvm::Value *isKept,
                                  unsigned count) {
  // A register of 4 lanes takes a mask of 8 bits all the same.
  if (count == 4) {
    int wide[8] = {0, 1, 2, 3, 4, 4, 4, 4};
    isKept = ir.CreateShuffleVector(isKept, llvm::Constant::getNullValue(isKept->getType()), wide);
  }
  llvm::Value *mask = ir.CreateBitCast(isKept, ir.getIntNTy(std::max(count, 8u)));
  llvm::SmallVector<llvm::Value *, 5> operands = {value, k, llvm::Constant::getNullValue(value->getType()), mask};
  if (count == 16)
    operands.push_back(ir.getInt32(4)); // round as the control register says
  return ir.CreateIntrinsic(scaleIntrinsic(count), {}, operands);
}

/// value * 2^k where `isKept`, else 0. A lane left out is not computed: on some machines an underflow takes longer than
/// a hundred other instructions, and rows that are filled up with -inf have one in each such lane.
static llvm::Value *scaleKept(const Lanes &lanes, llvm::Value *value, llvm::Value *k, llvm::Value *isKept) {
  llvm::IRBuilderBase &ir = lanes.builder();
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(lanes.realType());
  const unsigned count = vector ? vector->getNumElements() : 1;
  const unsigned piece = std::min(count, 16u);
  if (scaleIntrinsic(piece) == llvm::Intrinsic::not_intrinsic) {
    llvm::Value *power = ir.CreateFPToSI(ir.CreateSelect(isKept, k, lanes.real(0)), lanes.intType());
    llvm::Value *scaled =
        ir.CreateIntrinsic(llvm::Intrinsic::ldexp, {lanes.realType(), lanes.intType()}, {value, power});
    return ir.CreateSelect(isKept, scaled, lanes.real(0));
  }
  return emitByRegister(ir, {value, k, isKept}, piece, [&](llvm::ArrayRef<llvm::Value *> parts) {
    return scaleRegister(ir, parts[0], parts[1], parts[2], piece);
  });
}

llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "exp", x);
  const Lanes lanes(builder, x, host);
  // Beyond these bounds the result is 0 or infinity already.
  llvm::Value *bounded = lanes.atMost(x, 89.0f);
  if (!host.hasAvx512)
    bounded = lanes.atLeast(bounded, -104.5f);
  const auto [shifted, k, r] = reduceByLn2(lanes, bounded, scaleBias);
  llvm::Constant *one = lanes.real(1.0f);
  llvm::Value *value = lanes.mulAdd(lanes.mulAdd(lanes.polynomial(r, expTail), r, one), r, one);
  if (host.hasAvx512)
    return scaleKept(lanes, value, k, builder.CreateFCmpUGE(x, lanes.real(-104.5f)));
  return scaleByPower(lanes, value, shifted, x);
}

llvm::Value *emitExp2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "exp2", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *bounded = lanes.atMost(x, 129.0f);
  if (!host.hasAvx512)
    bounded = lanes.atLeast(bounded, -151.0f);
  llvm::Constant *shift = lanes.real(roundingShift + scaleBias);
  llvm::Value *shifted = lanes.add(bounded, shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  llvm::Value *value = emitExp2OfFraction(lanes, lanes.sub(bounded, k));
  if (host.hasAvx512)
    return scaleKept(lanes, value, k, builder.CreateFCmpUGE(x, lanes.real(-151.0f)));
  return scaleByPower(lanes, value, shifted, x);
}

// e^x - 1 = 2^k (e^r - 1) + (2^k - 1). For k = 128 the power is halved and the sum doubled.
llvm::Value *emitExpm1(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "expm1", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *bounded = lanes.atLeast(lanes.atMost(x, 89.0f), -20.0f);
  const auto [shifted, k, r] = reduceByLn2(lanes, bounded, 127);
  (void)k;
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
