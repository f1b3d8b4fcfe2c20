// Emits tanh.
// SPDX-License-Identifier: MIT
//
// tanh a = n / (2 - n) for a >= 0 with n = 1 - e^-2a = (1 - 2^k) - 2^k (e^r - 1).

#include "compiler/target/cpu/math/Lanes.h"

namespace nereid::cpu::math {

static constexpr float ln2 = 0x1.62e43p-1f;
static constexpr float log2e = 0x1.715476p0f;
/// tanh rounds to 1 from here on.
static constexpr float largestArgument = 9.1f;

llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  if (isDouble(x))
    return emitLibmCalls(builder, "tanh", x);
  const Lanes lanes(builder, x, host);
  llvm::Value *a = lanes.atMost(lanes.magnitude(x), largestArgument);

  llvm::Constant *shift = lanes.real(roundingShift + 127);
  llvm::Value *shifted = lanes.mulAdd(a, lanes.real(-2 * log2e), shift);
  llvm::Value *k = lanes.sub(shifted, shift);
  // One part of ln 2 is enough: an error of r counts 2^k times.
  llvm::Value *r = lanes.mulAdd(k, lanes.real(-ln2), lanes.mul(a, lanes.real(-2.0f)));
  llvm::Value *rest = emitExpLessOne(lanes, r);

  llvm::Value *power = lanes.fromBits(builder.CreateShl(lanes.bits(shifted), 23));
  llvm::Value *n = lanes.mulAdd(lanes.neg(power), rest, lanes.sub(lanes.real(1.0f), power));
  llvm::Value *quotient = lanes.div(n, lanes.sub(lanes.real(2.0f), n));
  return lanes.withSign(quotient, lanes.signOf(x));
}

} // namespace nereid::cpu::math
