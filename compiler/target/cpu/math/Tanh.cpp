// Emits tanh.
// SPDX-License-Identifier: MIT
//
// For small a, tanh a = a + a^3 p(a^2); elsewhere it is 1 - 2e / (1 + e) with e = e^-2a, where the fraction is at most
// a half and its error counts little. Both are computed and one is selected.

#include "compiler/target/cpu/math/Lanes.h"

namespace nereid::cpu::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr float tanhTail[] = {-0x1.555454p-2f, 0x1.10cf5ep-3f, -0x1.af877ap-5f, 0x1.0d7a02p-6f};
static constexpr float log2e = 0x1.715476p0f;
/// Just above the point where tanh is 1/2.
static constexpr float largestSmall = 0.5494f;
/// tanh rounds to 1 from here on.
static constexpr float largestArgument = 9.1f;

/// 1 - d / (1 + d/2) with d = 2e = 2^(1 + k) 2^r, where k + r = -2a / ln 2.
static llvm::Value *tanhByExp(const Lanes &lanes, llvm::Value *a) {
  llvm::IRBuilderBase &ir = lanes.builder();
  llvm::Constant *shift = lanes.real(roundingShift + 128);
  llvm::Constant *scale = lanes.real(-2 * log2e);
  llvm::Value *shifted = lanes.mulAdd(a, scale, shift);
  llvm::Value *r = lanes.mulAdd(a, scale, lanes.sub(shift, shifted));
  llvm::Value *power = lanes.fromBits(ir.CreateShl(lanes.bits(shifted), 23));
  llvm::Value *d = lanes.mul(emitExp2OfFraction(lanes, r), power);
  llvm::Constant *one = lanes.real(1.0f);
  return lanes.sub(one, lanes.div(d, lanes.mulAdd(d, lanes.real(0.5f), one)));
}

llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "tanh", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *a = lanes.atMost(lanes.magnitude(x), largestArgument);
  llvm::Value *square = lanes.mul(a, a);
  llvm::Value *nearZero = lanes.mulAdd(lanes.polynomial(square, tanhTail), lanes.mul(a, square), a);
  llvm::Value *isSmall = builder.CreateFCmpOLT(a, lanes.real(largestSmall));
  llvm::Value *value = builder.CreateSelect(isSmall, nearZero, tanhByExp(lanes, a));
  return lanes.withSign(value, lanes.signOf(x));
}

} // namespace nereid::cpu::math
