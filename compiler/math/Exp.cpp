// Emits exp, exp2 and expm1.
// SPDX-License-Identifier: MIT
//
// e^x = 2^k e^r with k = round(x / ln 2). Adding 1.5 * 2^23 (2^52 for f64) rounds x / ln 2 and leaves k in the low bits
// of the sum. The constant may include a small integer, so that an exponent bias costs nothing.

#include "compiler/math/Lanes.h"

#include "llvm/IR/IntrinsicsX86.h"

namespace nereid::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr double expTail[] = {0x1.fffffep-2f, 0x1.5554aep-3f, 0x1.5556fp-5f, 0x1.122a72p-7f, 0x1.6ba49ap-10f};
static constexpr double exp2Tail[] = {0x1.62e43p-1f, 0x1.ebfbdcp-3f,  0x1.c6af7cp-5f,
                                      0x1.3b2dep-7f, 0x1.5f082ep-10f, 0x1.416b58p-13f};
static constexpr double ln2Parts[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
static constexpr double wideExpTail[] = {0x1p-1,
                                         0x1.5555555555559p-3,
                                         0x1.555555555553cp-5,
                                         0x1.111111110f4b5p-7,
                                         0x1.6c16c16c1fb5fp-10,
                                         0x1.a01a01b0c8b6dp-13,
                                         0x1.a01a01798c97dp-16,
                                         0x1.71ddf5d9dd329p-19,
                                         0x1.27e5388fee734p-22,
                                         0x1.af636eb70c20fp-26,
                                         0x1.1ee862738a4cdp-29};
static constexpr double wideExp2Tail[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0cfp-5,
                                          0x1.3b2ab6fba4e22p-7,  0x1.5d87fe78a26c9p-10, 0x1.430912f883cfbp-13,
                                          0x1.ffcbfc74d6074p-17, 0x1.62c021e26dae9p-20, 0x1.b524dd555e4cp-24,
                                          0x1.e4d06c75c6a35p-28, 0x1.ea014ec098dbep-32, 0x1.c2ce991715426p-36};
static constexpr double wideLn2Parts[] = {0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42};
static constexpr double log2e = 0x1.71547652b82fep0;

namespace {
/// Constants of the format.
struct Numbers {
  llvm::ArrayRef<double> expTail, exp2Tail, ln2Parts;
  double bias;                      ///< of the exponent
  double largestExp, smallestExp;   ///< arguments beyond which e^x is infinity or 0
  double largestExp2, smallestExp2; ///< the same for 2^x
  double smallestExpm1;             ///< e^x - 1 rounds to -1 below it
  uint64_t halfRange;               ///< half of the exponents of finite numbers
};
} // namespace

static const Numbers &numbersOf(const Lanes &lanes) {
  static const Numbers narrow = {expTail, exp2Tail, ln2Parts, 127, 89, -104.5, 129, -151, -20, 64};
  static const Numbers wide = {wideExpTail, wideExp2Tail, wideLn2Parts, 1023, 710, -746, 1025, -1076, -40, 512};
  return lanes.isWide() ? wide : narrow;
}

llvm::Value *emitExpLessOne(const Lanes &lanes, llvm::Value *r) {
  llvm::Value *square = lanes.mul(r, r);
  return lanes.mulAdd(lanes.polynomial(r, square, numbersOf(lanes).expTail), square, r);
}

llvm::Value *emitExp2OfFraction(const Lanes &lanes, llvm::Value *r) {
  return lanes.mulAdd(lanes.polynomial(r, numbersOf(lanes).exp2Tail), r, lanes.real(1));
}

namespace {
/// x = k ln 2 + r. The low bits of `shifted` hold k + bias, `r` is within ln(2)/2 of zero.
struct Reduced {
  llvm::Value *shifted;
  llvm::Value *k;
  llvm::Value *r;
};
} // namespace

static Reduced reduceByLn2(const Lanes &lanes, llvm::Value *x, double bias) {
  llvm::Constant *shift = lanes.real(lanes.roundingShift() + bias);
  llvm::Value *shifted = lanes.mulAdd(x, lanes.real(log2e), shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  // k times the first part is exact without FMA too: 8 bits times 15 (11 times 41 for f64).
  const llvm::ArrayRef<double> parts = numbersOf(lanes).ln2Parts;
  llvm::Value *r = lanes.mulAdd(k, lanes.real(-parts[0]), x);
  return {shifted, k, lanes.mulAdd(k, lanes.real(-parts[1]), r)};
}

/// The bias that `scaleByPower` expects in `shifted`.
static double scaleBias(const Lanes &lanes) { return 2 * numbersOf(lanes).bias; }

// 2^k needs two factors: k reaches 128 for finite results, and -150 for denormal ones. The outer factor is 2^64 or
// 2^-64 (2^512 for f64) by the sign of x; the inner one's exponent field is then in range, and only the last
// multiplication rounds.
static llvm::Value *scaleByPower(const Lanes &lanes, llvm::Value *value, llvm::Value *shifted, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *low = lanes.bits(shifted);
  const Numbers &numbers = numbersOf(lanes);
  const auto power = [&](uint64_t exponent) { return lanes.integer(exponent << lanes.mantissaBits()); };
  const uint64_t one = static_cast<uint64_t>(numbers.bias);
  llvm::Value *isNegative = ir.CreateICmpSLT(lanes.bits(x), lanes.integer(0));
  llvm::Value *outer = ir.CreateSelect(isNegative, power(one - numbers.halfRange), power(one + numbers.halfRange));
  llvm::Value *inner = ir.CreateSub(ir.CreateShl(low, lanes.mantissaBits()), outer);
  return lanes.mul(lanes.mul(value, lanes.fromBits(inner)), lanes.fromBits(outer));
}

/// Whether 2^k comes from vscalefps.
static bool hasScale(const Lanes &lanes) { return lanes.host().hasAvx512 && !lanes.isWide(); }

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
  // A register of 4 lanes also takes a mask of 8 bits.
  if (count == 4) {
    int wide[8] = {0, 1, 2, 3, 4, 4, 4, 4};
    isKept = ir.CreateShuffleVector(isKept, llvm::Constant::getNullValue(isKept->getType()), wide);
  }
  llvm::Value *mask = ir.CreateBitCast(isKept, ir.getIntNTy(std::max(count, 8u)));
  llvm::SmallVector<llvm::Value *, 5> operands = {value, k, llvm::Constant::getNullValue(value->getType()), mask};
  if (count == 16)
    operands.push_back(ir.getInt32(4)); // round as set in the control register
  return ir.CreateIntrinsic(scaleIntrinsic(count), {}, operands);
}

/// value * 2^k where `isKept`, else 0. A masked-off lane is not computed: on some machines an underflow takes longer
/// than a hundred other instructions, and rows padded with -inf have one in each such lane.
static llvm::Value *scaleKept(const Lanes &lanes, llvm::Value *value, llvm::Value *k, llvm::Value *isKept) {
  llvm::IRBuilderBase &ir = lanes.builder();
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(lanes.realType());
  const unsigned count = vector ? vector->getNumElements() : 1;
  const unsigned lanesOfRegister = std::min(count, 16u);
  if (scaleIntrinsic(lanesOfRegister) == llvm::Intrinsic::not_intrinsic) {
    llvm::Value *power = ir.CreateFPToSI(ir.CreateSelect(isKept, k, lanes.real(0)), lanes.intType());
    llvm::Value *scaled =
        ir.CreateIntrinsic(llvm::Intrinsic::ldexp, {lanes.realType(), lanes.intType()}, {value, power});
    return ir.CreateSelect(isKept, scaled, lanes.real(0));
  }
  return emitByRegister(ir, {value, k, isKept}, lanesOfRegister, [&](llvm::ArrayRef<llvm::Value *> parts) {
    return scaleRegister(ir, parts[0], parts[1], parts[2], lanesOfRegister);
  });
}

llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "exp", x);
  const Lanes lanes(builder, x, host);
  const Numbers &numbers = numbersOf(lanes);
  // Beyond these bounds the result is 0 or infinity already.
  llvm::Value *bounded = lanes.atMost(x, numbers.largestExp);
  if (!hasScale(lanes))
    bounded = lanes.atLeast(bounded, numbers.smallestExp);
  const auto [shifted, k, r] = reduceByLn2(lanes, bounded, scaleBias(lanes));
  llvm::Constant *one = lanes.real(1);
  llvm::Value *value = lanes.mulAdd(lanes.mulAdd(lanes.polynomial(r, numbers.expTail), r, one), r, one);
  if (hasScale(lanes))
    return scaleKept(lanes, value, k, builder.CreateFCmpUGE(x, lanes.real(numbers.smallestExp)));
  return scaleByPower(lanes, value, shifted, x);
}

llvm::Value *emitExp2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "exp2", x);
  const Lanes lanes(builder, x, host);
  const Numbers &numbers = numbersOf(lanes);
  llvm::Value *bounded = lanes.atMost(x, numbers.largestExp2);
  if (!hasScale(lanes))
    bounded = lanes.atLeast(bounded, numbers.smallestExp2);
  llvm::Constant *shift = lanes.real(lanes.roundingShift() + scaleBias(lanes));
  llvm::Value *shifted = lanes.add(bounded, shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  llvm::Value *value = emitExp2OfFraction(lanes, lanes.sub(bounded, k));
  if (hasScale(lanes))
    return scaleKept(lanes, value, k, builder.CreateFCmpUGE(x, lanes.real(numbers.smallestExp2)));
  return scaleByPower(lanes, value, shifted, x);
}

// e^x - 1 = 2^k (e^r - 1) + (2^k - 1). For the largest k the power is halved and the sum doubled.
llvm::Value *emitExpm1(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "expm1", x);
  const Lanes lanes(builder, x, host);
  const Numbers &numbers = numbersOf(lanes);
  llvm::Value *bounded = lanes.atLeast(lanes.atMost(x, numbers.largestExp), numbers.smallestExpm1);
  const auto [shifted, k, r] = reduceByLn2(lanes, bounded, numbers.bias);
  (void)k;
  llvm::Value *rest = emitExpLessOne(lanes, r);

  const double topPower = lanes.roundingShift() + 2 * numbers.bias + 1;
  llvm::Value *isTop = builder.CreateFCmpOGE(shifted, lanes.real(topPower));
  llvm::Value *low = builder.CreateAdd(lanes.bits(shifted), builder.CreateSExt(isTop, lanes.intType()));
  llvm::Value *power = lanes.fromBits(builder.CreateShl(low, lanes.mantissaBits()));
  llvm::Value *less = builder.CreateSelect(isTop, lanes.real(0), lanes.real(1));
  llvm::Value *sum = lanes.mulAdd(power, rest, lanes.sub(power, less));
  llvm::Value *result = builder.CreateSelect(isTop, lanes.add(sum, sum), sum);
  // e^x - 1 has the sign of x; only -0 needs it.
  return lanes.withSign(result, lanes.signOf(x));
}

} // namespace nereid::math
