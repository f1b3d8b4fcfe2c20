// Emits tanh.
// SPDX-License-Identifier: MIT
//
// For small a, tanh a = a + a^3 p(a^2); elsewhere it is 1 - 2e / (1 + e) with e = e^-2a, where the fraction is at most
// a half and its error matters little. Both are computed and one is selected.

#include "compiler/math/Lanes.h"

namespace nereid::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr double tanhTail[] = {-0x1.555454p-2f, 0x1.10cf5ep-3f, -0x1.af877ap-5f, 0x1.0d7a02p-6f};
static constexpr double wideTanhTail[] = {-0x1.5555555555555p-2,  0x1.11111111110b3p-3,   -0x1.ba1ba1ba14649p-5,
                                          0x1.664f4880826f9p-6,   -0x1.226e34f5cdf77p-7,  0x1.d6d3b890bcc69p-9,
                                          -0x1.7da180405edb3p-10, 0x1.353e51d780bp-11,    -0x1.f3961c022a2f9p-13,
                                          0x1.8a322cf1f6c37p-14,  -0x1.14b781a38207cp-15, 0x1.f4b034bdbc78cp-18};
static constexpr double log2e = 0x1.71547652b82fep0;
/// Just above the point where tanh is 1/2.
static constexpr double largestSmall = 0.5494f;
/// tanh rounds to 1 from here on.
static constexpr double largestArgument = 9.1f, wideLargestArgument = 19.1;

/// 1 - d / (1 + d/2) with d = 2e = 2^(1 + k) 2^r, where k + r = -2a / ln 2.
static llvm::Value *tanhByExp(const Lanes &lanes, llvm::Value *a) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Constant *shift = lanes.real(lanes.roundingShift() + lanes.pick(128, 1024));
  llvm::Constant *scale = lanes.real(-2 * log2e);
  llvm::Value *shifted = lanes.mulAdd(a, scale, shift);
  llvm::Value *r = lanes.mulAdd(a, scale, lanes.sub(shift, shifted));
  llvm::Value *power = lanes.fromBits(ir.CreateShl(lanes.bits(shifted), lanes.mantissaBits()));
  llvm::Value *d = lanes.mul(emitExp2OfFraction(lanes, r), power);
  llvm::Constant *one = lanes.real(1);
  return lanes.sub(one, lanes.approxDiv(d, lanes.mulAdd(d, lanes.real(0.5), one)));
}

llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "tanh", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *a = lanes.atMost(lanes.magnitude(x), lanes.pick(largestArgument, wideLargestArgument));
  llvm::Value *square = lanes.mul(a, a);
  llvm::Value *nearZero =
      lanes.mulAdd(lanes.polynomial(square, lanes.pick(tanhTail, wideTanhTail)), lanes.mul(a, square), a);
  llvm::Value *isSmall = builder.CreateFCmpOLT(a, lanes.real(largestSmall));
  llvm::Value *value = builder.CreateSelect(isSmall, nearZero, tanhByExp(lanes, a));
  return lanes.withSign(value, lanes.signOf(x));
}

} // namespace nereid::math
