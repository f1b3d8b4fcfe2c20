// Emits erf.
// SPDX-License-Identifier: MIT
//
// erf a = 1 - e^-y for a >= 0, where y = -log(1 - erf a) = a + a p(a) is smooth enough for one polynomial from 0 to the
// point where erf rounds to 1. With e^-y = 2^k e^r the result is (1 - 2^k) - 2^k (e^r - 1), which keeps relative
// accuracy down to a = 0, since k is 0 there.

#include "compiler/math/Lanes.h"

namespace nereid::math {

// Coefficients are printed by scripts/fit_math.py.
static constexpr double erfLog[] = {0x1.06eba8p-3f,   0x1.45f3p-1f,     0x1.a4f8c4p-4f,
                                    -0x1.39b7cap-6f,  -0x1.637a0ep-13f, 0x1.b744ccp-10f,
                                    -0x1.4e2996p-11f, 0x1.f28abep-14f,  -0x1.3b026ap-17f};
static constexpr double wideErfLog[] = {
    0x1.06eba8214db69p-3,   0x1.45f306dc9c882p-1,   0x1.a4f4e2a1b4c18p-4,   -0x1.39668594f7ef9p-6,
    -0x1.b6b6841da320bp-13, 0x1.bca6739149d7p-10,   -0x1.3564f32d8d78ep-11, 0x1.b1fe4850d40c7p-16,
    0x1.0ea051f4e89d4p-14,  -0x1.f3cac05f70035p-16, 0x1.d7f6d9b5ae2fp-19,   0x1.69b4e630f0a06p-19,
    -0x1.add05ff702fdap-20, 0x1.e845cdf5c0a3ap-23,  0x1.b099f34d9f124p-23,  -0x1.6a58bbbe6311p-23,
    0x1.34e997f90139dp-24,  -0x1.557eaec1c8c93p-26, 0x1.aeafcb94888a7p-29,  0x1.03e3b4f39b488p-33,
    -0x1.12a0b9657de97p-32, 0x1.84dbf12625dc1p-34,  -0x1.5d73c7c6b269fp-36, 0x1.c4c025c4ecadep-39,
    -0x1.b0a995a9502dfp-42, 0x1.2c09dc5dcf4a3p-45,  -0x1.1f1acb53e8b59p-49, 0x1.5405c9221d78bp-54,
    -0x1.782babab0b4d4p-60};
static constexpr double ln2 = 0x1.62e42fefa39efp-1;
static constexpr double log2e = 0x1.71547652b82fep0;
/// erf rounds to 1 from here on.
static constexpr double largestArgument = 3.95f, wideLargestArgument = 5.93;

llvm::Value *emitErf(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (usesLibm(x, host))
    return emitLibmCalls(builder, "erf", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *a = lanes.atMost(lanes.magnitude(x), lanes.pick(largestArgument, wideLargestArgument));
  llvm::Value *slope = lanes.polynomial(a, lanes.mul(a, a), lanes.pick(erfLog, wideErfLog));
  llvm::Value *y = lanes.mulAdd(slope, a, a);

  llvm::Constant *shift = lanes.real(lanes.roundingShift() + lanes.pick(127, 1023));
  llvm::Value *shifted = lanes.mulAdd(y, lanes.real(-log2e), shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  // One part of ln 2 is enough: an error of r is multiplied by 2^k.
  llvm::Value *r = lanes.mulAdd(k, lanes.real(-ln2), lanes.neg(y));
  llvm::Value *rest = emitExpLessOne(lanes, r);
  if (!host.hasFma) {
    // Two roundings in y are too many: the rounding error of its sum is subtracted here.
    llvm::Value *lost = lanes.sub(lanes.mul(slope, a), lanes.sub(y, a));
    rest = lanes.sub(rest, lost);
  }

  llvm::Value *power = lanes.fromBits(builder.CreateShl(lanes.bits(shifted), lanes.mantissaBits()));
  llvm::Value *value = lanes.mulAdd(lanes.neg(power), rest, lanes.sub(lanes.real(1), power));
  return lanes.withSign(value, lanes.signOf(x));
}

} // namespace nereid::math
