// Emits log, log2 and log1p.
// SPDX-License-Identifier: MIT
//
// x = 2^e m with m between the roots of 1/2 and 2, so that log x = e ln 2 + log(1 + f) with f = m - 1, and the two
// hardly cancel. The exponent is kept as e * 2^23, the value its bits have as an integer; constants absorb the factor.

#include "compiler/target/cpu/math/Lanes.h"

#include <limits>

namespace nereid::cpu::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr float logTail[] = {-0x1.fffff8p-2f, 0x1.55555p-2f,   -0x1.000438p-2f, 0x1.99a428p-3f, -0x1.542422p-3f,
                                    0x1.226b34p-3f,  -0x1.0f4cb6p-3f, 0x1.087d8ap-3f,  -0x1.385082p-4f};
static constexpr float log2Tail[] = {-0x1.71547p-1f, 0x1.ec7094p-2f,  -0x1.715afep-2f, 0x1.277f44p-2f, -0x1.eaa24ap-3f,
                                     0x1.a2c9dcp-3f, -0x1.87f7eap-3f, 0x1.7f2818p-3f,  -0x1.c39bb6p-4f};
static constexpr float ln2Parts[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
static constexpr float log2eParts[] = {0x1.715476p0f, 0x1.4ae0bep-26f};
static constexpr float exponentUnit = 0x1p-23f;

static constexpr uint32_t rootOfHalfBits = 0x3f3504f3;
static constexpr uint32_t exponentMask = 0xff800000;
static constexpr float infinity = std::numeric_limits<float>::infinity();
static constexpr float smallestNormal = std::numeric_limits<float>::min();

namespace {
/// x = 2^e (1 + f). For x = 0, infinite, negative or NaN `exponent` is the logarithm itself and f is finite.
struct Parts {
  llvm::Value *exponent; ///< e * 2^23
  llvm::Value *f;
};
} // namespace

static llvm::Value *exponentBits(const Lanes &lanes, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  return ir.CreateAnd(ir.CreateSub(lanes.bits(x), lanes.integer(rootOfHalfBits)), lanes.integer(exponentMask));
}

/// Puts the logarithm of 0, infinity, negative numbers and NaN in place of the exponent.
static llvm::Value *coverSpecials(const Lanes &lanes, llvm::Value *exponent, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Constant *zero = lanes.real(0.0f);
  llvm::Value *covered = ir.CreateSelect(ir.CreateFCmpOLT(x, lanes.real(infinity)), exponent, x);
  covered = ir.CreateSelect(ir.CreateFCmpOEQ(x, zero), lanes.real(-infinity), covered);
  // All ones is a NaN, so the comparison's mask serves as it is.
  llvm::Value *isNegative = ir.CreateSExt(ir.CreateFCmpOLT(x, zero), lanes.intType());
  return lanes.fromBits(ir.CreateOr(lanes.bits(covered), isNegative));
}

static llvm::Value *lessOne(const Lanes &lanes, llvm::Value *x, llvm::Value *exponent) {
  llvm::Value *mantissa = lanes.fromBits(lanes.builder().CreateSub(lanes.bits(x), exponent));
  return lanes.sub(mantissa, lanes.real(1.0f));
}

/// Right for every x; the usual path leaves out the denormals and what `coverSpecials` covers.
static ValueList splitAny(const Lanes &lanes, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *isDenormal = ir.CreateFCmpOLT(x, lanes.real(smallestNormal));
  llvm::Value *normal = ir.CreateSelect(isDenormal, lanes.mul(x, lanes.real(0x1p24f)), x);
  llvm::Value *exponent = exponentBits(lanes, normal);
  llvm::Value *excess = ir.CreateSelect(isDenormal, lanes.integer(24 << 23), lanes.integer(0));
  llvm::Value *scaled = ir.CreateSIToFP(ir.CreateSub(exponent, excess), lanes.realType());
  return {coverSpecials(lanes, scaled, x), lessOne(lanes, normal, exponent)};
}

/// Whether x is anything but a positive, finite, normal number.
static llvm::Value *isUnusual(const Lanes &lanes, llvm::Value *x) {
  llvm::Value *steps = lanes.builder().CreateSub(lanes.bits(x), lanes.integer(0x00800000));
  return lanes.builder().CreateICmpUGE(steps, lanes.integer(0x7f800000 - 0x00800000));
}

static Parts split(const Lanes &lanes, llvm::Value *x) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Value *exponent = exponentBits(lanes, x);
  llvm::Value *scaled = ir.CreateSIToFP(exponent, lanes.realType());
  const ValueList parts = emitRarePath(lanes, isUnusual(lanes, x), {scaled, lessOne(lanes, x, exponent)},
                                       [&] { return splitAny(lanes, x); });
  return {parts[0], parts[1]};
}

static llvm::Value *logOfParts(const Lanes &lanes, const Parts &parts) {
  llvm::Value *f = parts.f;
  llvm::Value *low = lanes.mulAdd(parts.exponent, lanes.real(ln2Parts[1] * exponentUnit), f);
  llvm::Value *square = lanes.mul(f, f);
  llvm::Value *sum = lanes.mulAdd(lanes.polynomial(f, square, logTail), square, low);
  return lanes.mulAdd(parts.exponent, lanes.real(ln2Parts[0] * exponentUnit), sum);
}

llvm::Value *emitLog(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "log", x);
  const Lanes lanes(builder, x, host);
  return logOfParts(lanes, split(lanes, x));
}

llvm::Value *emitLog2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "log2", x);
  const Lanes lanes(builder, x, host);
  const auto [exponent, f] = split(lanes, x);
  llvm::Value *low = lanes.mul(f, lanes.real(log2eParts[1]));
  llvm::Value *square = lanes.mul(f, f);
  llvm::Value *sum = lanes.mulAdd(lanes.polynomial(f, square, log2Tail), square, low);
  sum = lanes.mulAdd(f, lanes.real(log2eParts[0]), sum);
  return lanes.mulAdd(exponent, lanes.real(exponentUnit), sum);
}

/// (1 + x) / 2^e - 1 with one rounding: x / 2^e + (1 / 2^e - 1). The power is quadrupled since 2^-128 is denormal.
static llvm::Value *scaledArgument(const Lanes &lanes, llvm::Value *x, llvm::Value *exponent) {
  llvm::Value *power = lanes.fromBits(lanes.builder().CreateSub(lanes.integer(129u << 23), exponent));
  llvm::Value *four = lanes.mulAdd(x, power, lanes.sub(power, lanes.real(4.0f)));
  return lanes.mul(four, lanes.real(0.25f));
}

// The exponent is taken from 1 + x, f from x itself.
llvm::Value *emitLog1p(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "log1p", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *sum = lanes.add(x, lanes.real(1.0f));
  llvm::Value *exponent = exponentBits(lanes, sum);
  llvm::Value *scaled = builder.CreateSIToFP(exponent, lanes.realType());
  const ValueList parts =
      emitRarePath(lanes, isUnusual(lanes, sum), {scaled, scaledArgument(lanes, x, exponent)}, [&]() -> ValueList {
        llvm::Value *finite = lanes.atMost(x, std::numeric_limits<float>::max());
        return {coverSpecials(lanes, scaled, sum), scaledArgument(lanes, finite, exponent)};
      });
  // log(1 + x) has the sign of x; only -0 needs it.
  return lanes.withSign(logOfParts(lanes, {parts[0], parts[1]}), lanes.signOf(x));
}

} // namespace nereid::cpu::math
