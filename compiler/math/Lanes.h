// Emits f32 or f64 arithmetic on scalars and vectors alike: constants are splat, FMA is used where the target has it.
// SPDX-License-Identifier: MIT

#pragma once

#include "compiler/math/Math.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <cstdint>

namespace nereid::math {

/// Emits one function. Clears the builder's fast-math flags for its lifetime.
class Lanes {
public:
  Lanes(llvm::IRBuilderBase &builder, llvm::Value *like, const HostMath &host);

  llvm::IRBuilderBase &builder() const { return ir; }
  const HostMath &host() const { return hostMath; }
  llvm::Type *intType() const { return intLanes; }
  llvm::Type *realType() const { return realLanes; }
  /// The type with `element` in every lane.
  llvm::Type *withElement(llvm::Type *element) const;

  /// Whether the lanes are f64.
  bool isWide() const { return isWideLanes; }
  unsigned mantissaBits() const { return isWideLanes ? 52 : 23; }
  /// 1.5 * 2^mantissaBits: added to a much smaller number it leaves the nearest integer in the low bits of the sum.
  double roundingShift() const { return isWideLanes ? 0x1.8p52 : 0x1.8p23; }

  /// Selects the constant of the lanes' format.
  double pick(double narrow, double wide) const { return isWideLanes ? wide : narrow; }
  llvm::ArrayRef<double> pick(llvm::ArrayRef<double> narrow, llvm::ArrayRef<double> wide) const {
    return isWideLanes ? wide : narrow;
  }

  /// Exact, or rounded to the lanes' type.
  llvm::Constant *real(double value) const;
  llvm::Constant *integer(uint64_t value) const;

  llvm::Value *add(llvm::Value *a, llvm::Value *b) const { return ir.CreateFAdd(a, b); }
  llvm::Value *sub(llvm::Value *a, llvm::Value *b) const { return ir.CreateFSub(a, b); }
  llvm::Value *mul(llvm::Value *a, llvm::Value *b) const { return ir.CreateFMul(a, b); }
  llvm::Value *div(llvm::Value *a, llvm::Value *b) const { return ir.CreateFDiv(a, b); }
  /// Within 2 units in the last place.
  llvm::Value *approxDiv(llvm::Value *a, llvm::Value *b) const {
    return hostMath.approxDivide && !isWideLanes ? hostMath.approxDivide(ir, a, b) : div(a, b);
  }
  llvm::Value *neg(llvm::Value *a) const { return ir.CreateFNeg(a); }
  /// a * b + c, rounded once where the target has FMA and twice elsewhere.
  llvm::Value *mulAdd(llvm::Value *a, llvm::Value *b, llvm::Value *c) const;
  /// Horner's scheme; the lowest power comes first.
  llvm::Value *polynomial(llvm::Value *x, llvm::ArrayRef<double> coefficients) const;
  /// As above, with even and odd powers summed separately: the same work where x^2 is available, and half the latency.
  llvm::Value *polynomial(llvm::Value *x, llvm::Value *square, llvm::ArrayRef<double> coefficients) const;

  /// The smaller (larger) of x and the limit; NaN stays NaN.
  llvm::Value *atMost(llvm::Value *x, double limit) const;
  llvm::Value *atLeast(llvm::Value *x, double limit) const;

  llvm::Value *bits(llvm::Value *x) const { return ir.CreateBitCast(x, intLanes); }
  llvm::Value *fromBits(llvm::Value *x) const { return ir.CreateBitCast(x, realLanes); }
  unsigned signPosition() const { return isWideLanes ? 63 : 31; }
  /// The top bit of an integer, all other bits zero.
  llvm::Value *signBit(llvm::Value *integers) const;
  /// The sign bits of x, all other bits zero.
  llvm::Value *signOf(llvm::Value *x) const;
  llvm::Value *magnitude(llvm::Value *x) const;
  /// Applies `sign`, as `signOf` gives it, to a value that is not negative or has that sign already.
  llvm::Value *withSign(llvm::Value *x, llvm::Value *sign) const;

private:
  llvm::IRBuilderBase &ir;
  llvm::IRBuilderBase::FastMathFlagGuard guard;
  const HostMath &hostMath;
  bool isWideLanes;
  llvm::Type *realLanes;
  llvm::Type *intLanes;
};

/// e^r - 1 for |r| <= ln(2)/2, relatively accurate.
llvm::Value *emitExpLessOne(const Lanes &lanes, llvm::Value *r);
/// 2^r for |r| <= 1/2.
llvm::Value *emitExp2OfFraction(const Lanes &lanes, llvm::Value *r);

/// Moves what follows the insertion point to a new basic block, which it returns, and leaves the old one without a
/// terminator.
llvm::BasicBlock *splitBlock(llvm::IRBuilderBase &builder, const char *name);

using ValueList = llvm::SmallVector<llvm::Value *, 3>;
/// Emits a second path, in a branch, that replaces `common` if any lane of `needed` is set. `rare` returns a value for
/// every lane, and as many values as `common` has. The insertion point is then where the two paths join.
ValueList emitRarePath(const Lanes &lanes, llvm::Value *needed, llvm::ArrayRef<llvm::Value *> common,
                       llvm::function_ref<ValueList()> rare);

/// Applies `emit` to vectors of at most `lanes` lanes of the operands, all of one length, and concatenates the results.
/// For machine intrinsics, which take one register.
llvm::Value *emitByRegister(llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> operands, unsigned lanes,
                            llvm::function_ref<llvm::Value *(llvm::ArrayRef<llvm::Value *>)> emit);

/// Whether x is f64 (or a vector of it) for which the emitters call `emitLibmCalls`.
bool usesLibm(const llvm::Value *x, const HostMath &host);
/// Calls the libm function `name` on each lane.
llvm::Value *emitLibmCalls(llvm::IRBuilderBase &builder, const char *name, llvm::Value *x);

/// An argument of sine or cosine minus a multiple of pi/2.
struct Quarters {
  /// The difference as the sum of a number within about pi/4 of zero and a much smaller one.
  llvm::Value *angle;
  llvm::Value *rest;
  /// The multiple, an integer of which only the lowest two bits matter.
  llvm::Value *quadrant;
};
/// Reduces |x| >= 2^20, given by its bits, of f32.
Quarters emitHugeReduction(const Lanes &lanes, llvm::Value *magnitudeBits);
/// Reduces one such f64.
Quarters emitWideHugeReduction(const Lanes &lanes, llvm::Value *magnitudeBits);

} // namespace nereid::math
