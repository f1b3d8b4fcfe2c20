// Emits fmod.
// SPDX-License-Identifier: MIT
//
// Long division of the magnitudes: while a >= b, a multiple q s of s = b 2^k is subtracted from a, with k such that q
// has few bits. If q is one too large, s is added again; both steps are exact. Zeros, infinities and NaN give a NaN,
// which ends the loop.

#include "compiler/math/Lanes.h"

#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Function.h"

#include <limits>

namespace nereid::math {

static uint64_t biasOf(const Lanes &lanes) { return lanes.isWide() ? 1023 : 127; }

/// The exponent of a magnitude, with the bias.
static llvm::Value *exponentOf(const Lanes &lanes, llvm::Value *magnitude) {
  llvm::IRBuilderBase &ir = lanes.builder();
  const double smallest = lanes.pick(std::numeric_limits<float>::min(), std::numeric_limits<double>::min());
  const uint64_t shift = lanes.mantissaBits() + 1;
  llvm::Value *isDenormal = ir.CreateFCmpOLT(magnitude, lanes.real(smallest));
  llvm::Value *scaled = lanes.mul(magnitude, lanes.real(static_cast<double>(uint64_t{1} << shift)));
  llvm::Value *bits = lanes.bits(ir.CreateSelect(isDenormal, scaled, magnitude));
  llvm::Value *excess = ir.CreateSelect(isDenormal, lanes.integer(shift), lanes.integer(0));
  return ir.CreateSub(ir.CreateLShr(bits, lanes.mantissaBits()), excess);
}

/// b 2^k for 0 <= k <= 2 * bias; two factors, since 2^k may exceed the format.
static llvm::Value *scaleUp(const Lanes &lanes, llvm::Value *b, llvm::Value *k) {
  llvm::IRBuilderBase &ir = lanes.builder();
  const uint64_t bias = biasOf(lanes);
  const auto power = [&](llvm::Value *exponent) {
    return lanes.fromBits(ir.CreateShl(ir.CreateAdd(exponent, lanes.integer(bias)), lanes.mantissaBits()));
  };
  llvm::Value *half = ir.CreateLShr(k, 1);
  return lanes.mul(lanes.mul(b, power(half)), power(ir.CreateSub(k, half)));
}

/// One iteration: a minus the largest multiple of b 2^k.
static llvm::Value *takeOff(const Lanes &lanes, llvm::Value *a, llvm::Value *b, llvm::Value *exponentOfB) {
  llvm::IRBuilderBase &ir = lanes.builder();
  // With so few bits, a quotient within 2 units in the last place differs from the exact one by less than 1.
  llvm::Value *few = lanes.integer(lanes.isWide() ? 50 : 20);
  llvm::Value *distance = ir.CreateSub(exponentOf(lanes, a), exponentOfB);
  llvm::Value *isFar = ir.CreateICmpSGT(distance, few);
  llvm::Value *k = ir.CreateSelect(isFar, ir.CreateSub(distance, few), lanes.integer(0));
  k = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, k, lanes.integer(2 * biasOf(lanes)));
  llvm::Value *s = scaleUp(lanes, b, k);
  llvm::Value *q = ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, lanes.approxDiv(a, s));
  llvm::Value *rest = lanes.mulAdd(lanes.neg(q), s, a);
  return ir.CreateSelect(ir.CreateFCmpOLT(rest, lanes.real(0)), lanes.add(rest, s), rest);
}

llvm::Value *emitFmod(llvm::IRBuilderBase &builder, llvm::Value *x, llvm::Value *y, const HostMath &host) {
  const Lanes lanes(builder, x, host);
  llvm::Value *a = lanes.magnitude(x), *b = lanes.magnitude(y);
  llvm::Value *exponentOfB = exponentOf(lanes, b);
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::BasicBlock *end = splitBlock(builder, "fmod.end");
  llvm::Function *function = before->getParent();
  llvm::BasicBlock *head = llvm::BasicBlock::Create(before->getContext(), "fmod", function, end);
  llvm::BasicBlock *loop = llvm::BasicBlock::Create(before->getContext(), "fmod.loop", function, end);
  builder.CreateBr(head);

  builder.SetInsertPoint(head);
  llvm::PHINode *rest = builder.CreatePHI(a->getType(), 2);
  rest->addIncoming(a, before);
  builder.CreateCondBr(builder.CreateFCmpOGE(rest, b), loop, end);

  builder.SetInsertPoint(loop);
  rest->addIncoming(takeOff(lanes, rest, b, exponentOfB), loop);
  builder.CreateBr(head);

  builder.SetInsertPoint(end, end->begin());
  llvm::Value *signedRest = lanes.withSign(rest, lanes.signOf(x));
  return builder.CreateSelect(builder.CreateFCmpUNO(x, y), lanes.add(x, y), signedRest);
}

} // namespace nereid::math
