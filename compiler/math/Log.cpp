// Emits log, log2 and log1p.
// SPDX-License-Identifier: MIT
//
// x = 2^e m with m between the roots of 1/2 and 2, so that log x = e ln 2 + log(1 + f) with f = m - 1, and the two
// hardly cancel. The exponent is kept as e * 2^23 (2^52 for f64), which is its field as an integer; constants absorb
// the factor.

#include "compiler/math/FloatRange.h"
#include "compiler/math/Lanes.h"

#include <limits>

namespace nereid::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr double logTail[] = {-0x1.fffff8p-2f, 0x1.55555p-2f,   -0x1.000438p-2f, 0x1.99a428p-3f, -0x1.542422p-3f,
                                     0x1.226b34p-3f,  -0x1.0f4cb6p-3f, 0x1.087d8ap-3f,  -0x1.385082p-4f};
static constexpr double log2Tail[] = {-0x1.71547p-1f, 0x1.ec7094p-2f,  -0x1.715afep-2f, 0x1.277f44p-2f, -0x1.eaa24ap-3f,
                                      0x1.a2c9dcp-3f, -0x1.87f7eap-3f, 0x1.7f2818p-3f,  -0x1.c39bb6p-4f};
static constexpr double ln2Parts[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
static constexpr double log2eParts[] = {0x1.715476p0f, 0x1.4ae0bep-26f};
static constexpr double wideLogTail[] = {-0x1p-1,
                                         0x1.5555555555571p-2,
                                         -0x1.ffffffffffd4bp-3,
                                         0x1.9999999994055p-3,
                                         -0x1.5555555573444p-3,
                                         0x1.24924927b1f59p-3,
                                         -0x1.fffffff06a63cp-4,
                                         0x1.c71c700bc6bbp-4,
                                         -0x1.99999af1dfc6fp-4,
                                         0x1.745d5cd5a318p-4,
                                         -0x1.5555738d6ac76p-4,
                                         0x1.3b0d30c463bc2p-4,
                                         -0x1.248936d7b0916p-4,
                                         0x1.116cf6ce49a32p-4,
                                         -0x1.00d2ec54d38f6p-4,
                                         0x1.dc7670a0e3b16p-5,
                                         -0x1.b421cd00b2e7dp-5,
                                         0x1.bbf3d0e34394bp-5,
                                         -0x1.016e399f929c3p-4,
                                         0x1.d2e1064ad86d6p-5,
                                         -0x1.8d064ee922ca1p-6};
static constexpr double wideLog2Tail[] = {
    -0x1.71547652b82fep-1, 0x1.ec709dc3a0426p-2,  -0x1.71547652b810ap-2, 0x1.2776c50ef5b9ap-2,  -0x1.ec709dc3cb6f1p-3,
    0x1.a61762ac2f9dp-3,   -0x1.715476477a4aap-3, 0x1.484b1297f3c1dp-3,  -0x1.2776c607511eap-3, 0x1.0c9ab6c6e065p-3,
    -0x1.ec70c95c6f87ep-4, 0x1.c685f53cf5936p-4,  -0x1.a60a4c48a9fbcp-4, 0x1.8a7845e0e737ep-4,  -0x1.7284c290060d9p-4,
    0x1.57b1f5b6b4d2fp-4,  -0x1.3a9a4e94e39b5p-4, 0x1.403e74a4fa63bp-4,  -0x1.7364d035e7c49p-4, 0x1.50c831d943b42p-4,
    -0x1.1e648aa890d82p-5};
static constexpr double wideLn2Parts[] = {0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42};
static constexpr double wideLog2eParts[] = {0x1.71547652b82fep0, 0x1.777d0ffda0d23p-56};
static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// Constants of the format.
struct Numbers {
  llvm::ArrayRef<double> logTail, log2Tail, ln2Parts, log2eParts;
  double exponentUnit; ///< an exponent of 1 in the bits, as an integer, times this is 1
  uint64_t rootOfHalf; ///< the bits of the root of 1/2
  uint64_t exponentMask;
  double smallestNormal, largest;
  uint64_t smallestBits, infinityBits; ///< of the smallest normal number and of infinity
  uint64_t denormalBits;               ///< denormals times 2^denormalBits are normal
};
} // namespace

static const Numbers &numbersOf(const Lanes &lanes) {
  using Narrow = std::numeric_limits<float>;
  using Wide = std::numeric_limits<double>;
  static const Numbers narrow = {logTail,    log2Tail,      ln2Parts,      log2eParts,        0x1p-23,    0x3f3504f3,
                                 0xff800000, Narrow::min(), Narrow::max(), uint64_t{1} << 23, 0x7f800000, 24};
  static const Numbers wide = {wideLogTail, wideLog2Tail,       wideLn2Parts,       wideLog2eParts,
                               0x1p-52,     0x3fe6a09e667f3bcd, 0xfff0000000000000, Wide::min(),
                               Wide::max(), uint64_t{1} << 52,  0x7ff0000000000000, 54};
  return lanes.isWide() ? wide : narrow;
}

namespace {
/// x = 2^e (1 + f). For x = 0, infinite, negative or NaN `exponent` is the logarithm itself and f is finite.
struct Parts {
  llvm::Value *exponent; ///< e / exponentUnit
  llvm::Value *f;
};
} // namespace

static llvm::Value *exponentBits(const Lanes &lanes, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  const Numbers &numbers = numbersOf(lanes);
  llvm::Value *steps = ir.CreateSub(lanes.bits(x), lanes.integer(numbers.rootOfHalf));
  return ir.CreateAnd(steps, lanes.integer(numbers.exponentMask));
}

/// Replaces the exponent by the logarithm of 0, infinity, negative numbers and NaN.
static llvm::Value *coverSpecials(const Lanes &lanes, llvm::Value *exponent, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Constant *zero = lanes.real(0);
  llvm::Value *covered = ir.CreateSelect(ir.CreateFCmpOLT(x, lanes.real(infinity)), exponent, x);
  covered = ir.CreateSelect(ir.CreateFCmpOEQ(x, zero), lanes.real(-infinity), covered);
  // All ones is a NaN, so the comparison's mask is used directly.
  llvm::Value *isNegative = ir.CreateSExt(ir.CreateFCmpOLT(x, zero), lanes.intType());
  return lanes.fromBits(ir.CreateOr(lanes.bits(covered), isNegative));
}

static llvm::Value *lessOne(const Lanes &lanes, llvm::Value *x, llvm::Value *exponent) {
  llvm::Value *mantissa = lanes.fromBits(lanes.builder().CreateSub(lanes.bits(x), exponent));
  return lanes.sub(mantissa, lanes.real(1));
}

/// Correct for every x; the common path omits denormals and the cases of `coverSpecials`.
static ValueList splitAny(const Lanes &lanes, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  const Numbers &numbers = numbersOf(lanes);
  const uint64_t shift = numbers.denormalBits;
  llvm::Value *isDenormal = ir.CreateFCmpOLT(x, lanes.real(numbers.smallestNormal));
  llvm::Value *scaledX = lanes.mul(x, lanes.real(static_cast<double>(uint64_t{1} << shift)));
  llvm::Value *normal = ir.CreateSelect(isDenormal, scaledX, x);
  llvm::Value *exponent = exponentBits(lanes, normal);
  llvm::Value *excess = ir.CreateSelect(isDenormal, lanes.integer(shift << lanes.mantissaBits()), lanes.integer(0));
  llvm::Value *scaled = ir.CreateSIToFP(ir.CreateSub(exponent, excess), lanes.realType());
  return {coverSpecials(lanes, scaled, x), lessOne(lanes, normal, exponent)};
}

/// Whether x is not a positive, finite, normal number.
static llvm::Value *isUnusual(const Lanes &lanes, llvm::Value *x) {
  const Numbers &numbers = numbersOf(lanes);
  llvm::Value *steps = lanes.builder().CreateSub(lanes.bits(x), lanes.integer(numbers.smallestBits));
  return lanes.builder().CreateICmpUGE(steps, lanes.integer(numbers.infinityBits - numbers.smallestBits));
}

static bool isNeverUnusual(const Lanes &lanes, const llvm::Value *x) {
  const Numbers &numbers = numbersOf(lanes);
  const FloatRange range = floatRange(x);
  return range.low >= numbers.smallestNormal && range.high <= numbers.largest && !range.maybeNan;
}

static Parts split(const Lanes &lanes, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  const bool isNormal = isNeverUnusual(lanes, x);
  if (lanes.host().avoidsBranches && !isNormal) {
    const ValueList parts = splitAny(lanes, x);
    return {parts[0], parts[1]};
  }
  llvm::Value *exponent = exponentBits(lanes, x);
  const Parts direct = {ir.CreateSIToFP(exponent, lanes.realType()), lessOne(lanes, x, exponent)};
  if (isNormal)
    return direct;
  const ValueList parts =
      emitRarePath(lanes, isUnusual(lanes, x), {direct.exponent, direct.f}, [&] { return splitAny(lanes, x); });
  return {parts[0], parts[1]};
}

static llvm::Value *logOfParts(const Lanes &lanes, const Parts &parts) {
  const Numbers &numbers = numbersOf(lanes);
  llvm::Value *f = parts.f;
  llvm::Value *low = lanes.mulAdd(parts.exponent, lanes.real(numbers.ln2Parts[1] * numbers.exponentUnit), f);
  llvm::Value *square = lanes.mul(f, f);
  llvm::Value *sum = lanes.mulAdd(lanes.polynomial(f, square, numbers.logTail), square, low);
  return lanes.mulAdd(parts.exponent, lanes.real(numbers.ln2Parts[0] * numbers.exponentUnit), sum);
}

llvm::Value *emitLog(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "log", x);
  const Lanes lanes(builder, x, host);
  return logOfParts(lanes, split(lanes, x));
}

llvm::Value *emitLog2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "log2", x);
  const Lanes lanes(builder, x, host);
  const Numbers &numbers = numbersOf(lanes);
  const auto [exponent, f] = split(lanes, x);
  llvm::Value *low = lanes.mul(f, lanes.real(numbers.log2eParts[1]));
  llvm::Value *square = lanes.mul(f, f);
  llvm::Value *sum = lanes.mulAdd(lanes.polynomial(f, square, numbers.log2Tail), square, low);
  sum = lanes.mulAdd(f, lanes.real(numbers.log2eParts[0]), sum);
  return lanes.mulAdd(exponent, lanes.real(numbers.exponentUnit), sum);
}

/// (1 + x) / 2^e - 1 with one rounding: x / 2^e + (1 / 2^e - 1). The power is quadrupled since 2^-128 is denormal.
static llvm::Value *scaledArgument(const Lanes &lanes, llvm::Value *x, llvm::Value *exponent) {
  const uint64_t four = lanes.isWide() ? 1025 : 129;
  llvm::Value *power = lanes.builder().CreateSub(lanes.integer(four << lanes.mantissaBits()), exponent);
  power = lanes.fromBits(power);
  llvm::Value *quadruple = lanes.mulAdd(x, power, lanes.sub(power, lanes.real(4)));
  return lanes.mul(quadruple, lanes.real(0.25));
}

/// The parts of 1 + x for every x; `sum` is 1 + x and `scaled` its exponent.
static ValueList splitAnySum(const Lanes &lanes, llvm::Value *x, llvm::Value *sum, llvm::Value *exponent,
                             llvm::Value *scaled) {
  llvm::Value *finite = lanes.atMost(x, numbersOf(lanes).largest);
  return {coverSpecials(lanes, scaled, sum), scaledArgument(lanes, finite, exponent)};
}

// The exponent is taken from 1 + x, f from x itself.
llvm::Value *emitLog1p(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "log1p", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *sum = lanes.add(x, lanes.real(1));
  llvm::Value *exponent = exponentBits(lanes, sum);
  llvm::Value *scaled = builder.CreateSIToFP(exponent, lanes.realType());
  const auto general = [&] { return splitAnySum(lanes, x, sum, exponent, scaled); };
  const ValueList parts = host.avoidsBranches ? general()
                                              : emitRarePath(lanes, isUnusual(lanes, sum),
                                                             {scaled, scaledArgument(lanes, x, exponent)}, general);
  // log(1 + x) has the sign of x; only -0 needs it.
  return lanes.withSign(logOfParts(lanes, {parts[0], parts[1]}), lanes.signOf(x));
}

} // namespace nereid::math
