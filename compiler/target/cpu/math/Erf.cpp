// Emits erf.
// SPDX-License-Identifier: MIT
//
// erf a = 1 - e^-y for a >= 0, where y = -log(1 - erf a) = a + a p(a) is smooth enough for one polynomial from 0 to the
// point where erf rounds to 1. With e^-y = 2^k e^r the result is (1 - 2^k) - 2^k (e^r - 1), which keeps relative
// accuracy down to a = 0, since k is 0 there.

#include "compiler/target/cpu/math/Lanes.h"

namespace nereid::cpu::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr float erfLog[] = {0x1.06eba8p-3f,   0x1.45f3p-1f,     0x1.a4f8c4p-4f,
                                   -0x1.39b7cap-6f,  -0x1.637a0ep-13f, 0x1.b744ccp-10f,
                                   -0x1.4e2996p-11f, 0x1.f28abep-14f,  -0x1.3b026ap-17f};
static constexpr float ln2 = 0x1.62e43p-1f;
static constexpr float log2e = 0x1.715476p0f;
/// erf rounds to 1 from here on.
static constexpr float largestArgument = 3.95f;

llvm::Value *emitErf(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "erf", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *a = lanes.atMost(lanes.magnitude(x), largestArgument);
  llvm::Value *slope = lanes.polynomial(a, lanes.mul(a, a), erfLog);
  llvm::Value *y = lanes.mulAdd(slope, a, a);

  llvm::Constant *shift = lanes.real(roundingShift + 127);
  llvm::Value *shifted = lanes.mulAdd(y, lanes.real(-log2e), shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  // One part of ln 2 is enough: an error of r counts 2^k times.
  llvm::Value *r = lanes.mulAdd(k, lanes.real(-ln2), lanes.neg(y));
  llvm::Value *rest = emitExpLessOne(lanes, r);
  if (!host.hasFma) {
    // Two roundings in y are too many: what its sum lost is taken off here.
    llvm::Value *lost = lanes.sub(lanes.mul(slope, a), lanes.sub(y, a));
    rest = lanes.sub(rest, lost);
  }

  llvm::Value *power = lanes.fromBits(builder.CreateShl(lanes.bits(shifted), 23));
  llvm::Value *value = lanes.mulAdd(lanes.neg(power), rest, lanes.sub(lanes.real(1.0f), power));
  return lanes.withSign(value, lanes.signOf(x));
}

} // namespace nereid::cpu::math
