// Computes the axis info of integer arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/index/AxisRules.h"
#include "compiler/index/Wrap.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

namespace {
using Dim = AxisInfo::Dim;
/// Computes one dimension's info from that of two operands.
using Rule = llvm::function_ref<void(const AxisInfo &l, const AxisInfo &r, unsigned dim, Dim &result)>;
} // namespace

/// Sets the constancy that both sides share, then applies `rule` to each dimension.
static AxisInfo perDim(const AxisInfo &l, const AxisInfo &r, AxisInfo info, Rule rule) {
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    info.dims[dim].constancy = std::min(l.dims[dim].constancy, r.dims[dim].constancy);
    rule(l, r, dim, info.dims[dim]);
  }
  return info;
}

/// The length of runs that start at multiples of it, and over which the other side is one multiple of it.
static int64_t alignedRun(const AxisInfo &run, const AxisInfo &other, unsigned dim) {
  return std::min(
      {run.dims[dim].contiguity, run.dims[dim].divisibility, other.dims[dim].constancy, other.divisibilityAt(dim, 1)});
}

/// Adds a run on one side to values that are constant over it on the other.
static void addDim(const AxisInfo &l, const AxisInfo &r, unsigned dim, Dim &sum) {
  sum.contiguity = std::max(std::min(l.dims[dim].contiguity, r.dims[dim].constancy),
                            std::min(l.dims[dim].constancy, r.dims[dim].contiguity));
  sum.divisibility = std::min(l.divisibilityAt(dim, sum.contiguity), r.divisibilityAt(dim, sum.contiguity));
}

static void subDim(const AxisInfo &l, const AxisInfo &r, unsigned dim, Dim &difference) {
  difference.contiguity = std::min(l.dims[dim].contiguity, r.dims[dim].constancy);
  difference.divisibility =
      std::min(l.divisibilityAt(dim, difference.contiguity), r.divisibilityAt(dim, difference.contiguity));
}

static AxisInfo multiply(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (l.constant() == 1)
    return r;
  if (r.constant() == 1)
    return l;
  const int64_t limit = int64_t(1) << 30;
  const int64_t product = std::min(limit, l.elementDivisibility() * r.elementDivisibility());
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &result) {
    result.divisibility = std::max(product, std::min(limit, l.divisibilityAt(dim, 1) * r.divisibilityAt(dim, 1)));
  });
}

/// l / r for a uniform constant r; `roundsDown` where negative numbers round towards minus infinity or do not occur.
static AxisInfo divideBy(int64_t divisor, const AxisInfo &l, const AxisInfo &unknown, bool roundsDown) {
  AxisInfo info = unknown;
  if (divisor == 1)
    return l;
  const int64_t power = powerOfTwoIn(divisor);
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    const Dim &from = l.dims[dim];
    Dim &quotient = info.dims[dim];
    quotient.constancy = from.constancy;
    // [s, s + g) has one quotient if g divides both s and the divisor.
    if (roundsDown && divisor > 0)
      quotient.constancy = std::max(quotient.constancy, std::min({from.contiguity, from.divisibility, power}));
    if (divisor == power)
      quotient.divisibility = std::max<int64_t>(1, l.divisibilityAt(dim, 1) / power);
  }
  return info;
}

static AxisInfo divide(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown, bool isSigned) {
  const bool roundsDown = !isSigned || l.isNonNegative();
  if (r.constant() && *r.constant() > 0)
    return divideBy(*r.constant(), l, unknown, roundsDown);
  // The sign of the divisor only negates the quotients.
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &quotient) {
    if (roundsDown)
      quotient.constancy = std::max(quotient.constancy, alignedRun(l, r, dim));
  });
}

/// A run continues in the remainder if it starts at a multiple of its length, which divides the divisor. Only a run
/// that starts at a negative multiple of the divisor steps from 0 to 1 - divisor, which no offset does.
static AxisInfo remainder(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown, bool isSigned) {
  const bool continues = !isSigned || l.isNonNegative() || index::isOffset(op->getResult(0));
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &rest) {
    if (continues)
      rest.contiguity = alignedRun(l, r, dim);
    rest.divisibility = std::min(l.divisibilityAt(dim, rest.contiguity), r.divisibilityAt(dim, rest.contiguity));
  });
}

static AxisInfo bitwiseAnd(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  // x & (2^n - 1) is x % 2^n.
  for (auto [x, mask] : {std::pair(&l, &r), std::pair(&r, &l)})
    if (mask->constant() && *mask->constant() >= 0 && llvm::isPowerOf2_64(*mask->constant() + 1)) {
      AxisInfo modulus = *mask;
      for (Dim &dim : modulus.dims)
        dim.divisibility = powerOfTwoIn(*mask->constant() + 1);
      return remainder(op, *x, modulus, unknown, /*isSigned=*/false);
    }
  return perDim(l, r, unknown, [](auto &l, auto &r, unsigned dim, Dim &result) {
    result.divisibility = std::max(l.divisibilityAt(dim, 1), r.divisibilityAt(dim, 1));
  });
}

/// The low bits of a run that starts at a multiple of its length are unchanged where the other side's are zero.
static void bitwiseOrDim(const AxisInfo &l, const AxisInfo &r, unsigned dim, Dim &result) {
  result.contiguity = std::max(alignedRun(l, r, dim), alignedRun(r, l, dim));
  result.divisibility = std::min(l.divisibilityAt(dim, result.contiguity), r.divisibilityAt(dim, result.contiguity));
}

static AxisInfo shiftLeft(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (r.constant() == 0)
    return l;
  const int64_t factor = r.constant() && *r.constant() > 0 && *r.constant() < 30 ? int64_t(1) << *r.constant() : 1;
  return perDim(l, r, unknown, [&](auto &l, auto &, unsigned dim, Dim &result) {
    result.divisibility = std::min(int64_t(1) << 30, l.divisibilityAt(dim, 1) * factor);
  });
}

static AxisInfo shiftRight(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (r.constant() && *r.constant() >= 0 && *r.constant() < 30)
    return divideBy(int64_t(1) << *r.constant(), l, unknown,
                    /*roundsDown=*/true);
  return perDim(l, r, unknown, [](auto &, auto &, unsigned, Dim &) {});
}

static void minOrMaxDim(const AxisInfo &l, const AxisInfo &r, unsigned dim, Dim &result) {
  result.divisibility = std::min(l.divisibilityAt(dim, 1), r.divisibilityAt(dim, 1));
}

/// Comparisons that change between a multiple of the group and the value below it: `run < bound`, `bound > run`.
static bool cutsBelow(arith::CmpIPredicate predicate, bool runIsLeft) {
  using P = arith::CmpIPredicate;
  if (runIsLeft)
    return predicate == P::slt || predicate == P::sge || predicate == P::ult || predicate == P::uge;
  return predicate == P::sgt || predicate == P::sle || predicate == P::ugt || predicate == P::ule;
}

static AxisInfo compare(arith::CmpIOp op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &result) {
    if (cutsBelow(op.getPredicate(), /*runIsLeft=*/true))
      result.constancy = std::max(result.constancy, alignedRun(l, r, dim));
    if (cutsBelow(op.getPredicate(), /*runIsLeft=*/false))
      result.constancy = std::max(result.constancy, alignedRun(r, l, dim));
  });
}

static AxisInfo select(const AxisInfo &condition, const AxisInfo &l, const AxisInfo &r) {
  if (condition.constant())
    return *condition.constant() ? l : r;
  AxisInfo info = AxisInfo::join(l, r);
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    Dim &result = info.dims[dim];
    result.constancy = std::min(result.constancy, condition.dims[dim].constancy);
    result.contiguity = std::min(result.contiguity, condition.dims[dim].constancy);
    result.divisibility = std::min(l.divisibilityAt(dim, result.contiguity), r.divisibilityAt(dim, result.contiguity));
  }
  return info;
}

/// A run may break where the number's sign or width changes, unless it starts at a multiple of its length.
static AxisInfo resized(AxisInfo info, unsigned keptBits, bool keepsSign) {
  const AxisInfo before = info;
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    Dim &result = info.dims[dim];
    if (!keepsSign && !info.isNonNegative())
      result.contiguity = std::min(result.contiguity, result.divisibility);
    if (keptBits < 32)
      result.contiguity = std::min({result.contiguity, result.divisibility, int64_t(1) << (keptBits - 1)});
    result.divisibility = before.divisibilityAt(dim, result.contiguity);
  }
  return info;
}

/// An extension to a wider type; sign extension of i1 turns true into -1.
static AxisInfo extended(Operation *op, AxisInfo info, bool isSigned) {
  const unsigned bits = tt::elementOf(op->getOperand(0).getType()).getIntOrFloatBitWidth();
  if (isSigned && bits > 1)
    return info;
  return resized(std::move(info), 64, isSigned);
}

std::optional<AxisInfo> analysis::transferArithmetic(Operation *op, ArrayRef<AxisInfo> operands,
                                                     const AxisInfo &unknown) {
  if (isa<arith::SelectOp>(op))
    return select(operands[0], operands[1], operands[2]);
  if (!tt::elementOf(op->getResult(0).getType()).isInteger() || operands.empty())
    return std::nullopt;
  const AxisInfo &l = operands[0], &r = operands.size() > 1 ? operands[1] : operands[0];
  auto both = [&](Rule rule) { return perDim(l, r, unknown, rule); };
  return llvm::TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](arith::AddIOp) { return both(addDim); })
      .Case([&](arith::SubIOp) { return both(subDim); })
      .Case([&](arith::MulIOp) { return multiply(l, r, unknown); })
      .Case([&](arith::DivSIOp) { return divide(l, r, unknown, true); })
      .Case([&](arith::DivUIOp) { return divide(l, r, unknown, false); })
      .Case([&](arith::RemSIOp) { return remainder(op, l, r, unknown, true); })
      .Case([&](arith::RemUIOp) { return remainder(op, l, r, unknown, false); })
      .Case([&](arith::AndIOp) { return bitwiseAnd(op, l, r, unknown); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) { return both(bitwiseOrDim); })
      .Case([&](arith::ShLIOp) { return shiftLeft(l, r, unknown); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return shiftRight(l, r, unknown); })
      .Case<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return both(minOrMaxDim); })
      .Case([&](arith::CmpIOp compared) { return compare(compared, l, r, unknown); })
      .Case([&](arith::ExtSIOp) { return extended(op, l, true); })
      .Case([&](arith::ExtUIOp) { return extended(op, l, false); })
      .Case([&](arith::TruncIOp) {
        return resized(l, tt::elementOf(op->getResult(0).getType()).getIntOrFloatBitWidth(), true);
      })
      .Default([](Operation *) { return std::nullopt; });
}
