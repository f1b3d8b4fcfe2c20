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

/// Of a sum or product, which may be below zero only where it overflows.
static bool isSumNonNegative(Operation *op, const AxisInfo &l, const AxisInfo &r) {
  return l.isNonNegative && r.isNonNegative && index::isOffset(op->getResult(0));
}

static AxisInfo multiply(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (l.constant == 1)
    return r;
  if (r.constant == 1)
    return l;
  const int64_t limit = int64_t(1) << 30;
  const int64_t product = std::min(limit, l.elementDivisibility() * r.elementDivisibility());
  AxisInfo info = perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &result) {
    result.divisibility = std::max(product, std::min(limit, l.divisibilityAt(dim, 1) * r.divisibilityAt(dim, 1)));
  });
  info.isNonNegative = isSumNonNegative(op, l, r);
  return info;
}

/// l / r for a uniform constant r; `roundsDown` where negative numbers round towards minus infinity or do not occur.
static AxisInfo divideBy(int64_t divisor, const AxisInfo &l, const AxisInfo &unknown, bool roundsDown) {
  AxisInfo info = unknown;
  info.isNonNegative = l.isNonNegative && divisor > 0;
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
  const bool roundsDown = !isSigned || l.isNonNegative;
  if (r.constant && *r.constant > 0)
    return divideBy(*r.constant, l, unknown, roundsDown);
  // The sign of the divisor only negates the quotients.
  AxisInfo info = perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &quotient) {
    const int64_t group =
        std::min({l.dims[dim].contiguity, l.dims[dim].divisibility, r.dims[dim].constancy, r.divisibilityAt(dim, 1)});
    if (roundsDown)
      quotient.constancy = std::max(quotient.constancy, group);
  });
  info.isNonNegative = isSigned && l.isNonNegative && r.isNonNegative;
  return info;
}

/// A run continues in the remainder if it starts at a multiple of its length, which divides the divisor. Only a run
/// that starts at a negative multiple of the divisor steps from 0 to 1 - divisor, which no offset does.
static AxisInfo remainder(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown, bool isSigned) {
  const bool continues = !isSigned || l.isNonNegative || index::isOffset(op->getResult(0));
  AxisInfo info = perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, Dim &rest) {
    if (continues)
      rest.contiguity =
          std::min({l.dims[dim].contiguity, l.dims[dim].divisibility, r.dims[dim].constancy, r.divisibilityAt(dim, 1)});
    rest.divisibility = std::min(l.divisibilityAt(dim, rest.contiguity), r.divisibilityAt(dim, rest.contiguity));
  });
  info.isNonNegative = isSigned ? l.isNonNegative : l.isNonNegative && r.isNonNegative;
  return info;
}

static AxisInfo bitwiseAnd(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  // x & (2^n - 1) is x % 2^n.
  for (auto [x, mask] : {std::pair(&l, &r), std::pair(&r, &l)})
    if (mask->constant && *mask->constant >= 0 && llvm::isPowerOf2_64(*mask->constant + 1)) {
      AxisInfo modulus = *mask;
      modulus.constant = *mask->constant + 1;
      for (Dim &dim : modulus.dims)
        dim.divisibility = powerOfTwoIn(*modulus.constant);
      AxisInfo info = remainder(op, *x, modulus, unknown, /*isSigned=*/false);
      info.isNonNegative = true;
      return info;
    }
  AxisInfo info = perDim(l, r, unknown, [](auto &l, auto &r, unsigned dim, Dim &result) {
    result.divisibility = std::max(l.divisibilityAt(dim, 1), r.divisibilityAt(dim, 1));
  });
  info.isNonNegative = l.isNonNegative || r.isNonNegative;
  return info;
}

/// The low bits of a run that starts at a multiple of its length are unchanged where the other side's are zero.
static void bitwiseOrDim(const AxisInfo &l, const AxisInfo &r, unsigned dim, Dim &result) {
  auto through = [&](const AxisInfo &run, const AxisInfo &other) {
    return std::min({run.dims[dim].contiguity, run.dims[dim].divisibility, other.dims[dim].constancy,
                     other.divisibilityAt(dim, 1)});
  };
  result.contiguity = std::max(through(l, r), through(r, l));
  result.divisibility = std::min(l.divisibilityAt(dim, result.contiguity), r.divisibilityAt(dim, result.contiguity));
}

static AxisInfo shiftLeft(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (r.constant == 0)
    return l;
  const int64_t factor = r.constant && *r.constant > 0 && *r.constant < 30 ? int64_t(1) << *r.constant : 1;
  return perDim(l, r, unknown, [&](auto &l, auto &, unsigned dim, Dim &result) {
    result.divisibility = std::min(int64_t(1) << 30, l.divisibilityAt(dim, 1) * factor);
  });
}

static AxisInfo shiftRight(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (r.constant && *r.constant >= 0 && *r.constant < 30)
    return divideBy(int64_t(1) << *r.constant, l, unknown, /*roundsDown=*/true);
  return perDim(l, r, unknown, [](auto &, auto &, unsigned, Dim &) {});
}

static AxisInfo minOrMax(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown, bool isMax) {
  AxisInfo info = perDim(l, r, unknown, [](auto &l, auto &r, unsigned dim, Dim &result) {
    result.divisibility = std::min(l.divisibilityAt(dim, 1), r.divisibilityAt(dim, 1));
  });
  info.isNonNegative = isMax ? l.isNonNegative || r.isNonNegative : l.isNonNegative && r.isNonNegative;
  return info;
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
    auto sameSide = [&](const AxisInfo &run, const AxisInfo &bound) {
      return std::min({run.dims[dim].contiguity, run.dims[dim].divisibility, bound.dims[dim].constancy,
                       bound.divisibilityAt(dim, 1)});
    };
    if (cutsBelow(op.getPredicate(), /*runIsLeft=*/true))
      result.constancy = std::max(result.constancy, sameSide(l, r));
    if (cutsBelow(op.getPredicate(), /*runIsLeft=*/false))
      result.constancy = std::max(result.constancy, sameSide(r, l));
  });
}

static AxisInfo select(const AxisInfo &condition, const AxisInfo &l, const AxisInfo &r) {
  if (condition.constant)
    return *condition.constant ? l : r;
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
    if (!keepsSign && !info.isNonNegative)
      result.contiguity = std::min(result.contiguity, result.divisibility);
    if (keptBits < 32)
      result.contiguity = std::min({result.contiguity, result.divisibility, int64_t(1) << (keptBits - 1)});
    result.divisibility = before.divisibilityAt(dim, result.contiguity);
  }
  if (keptBits < 32)
    info.constant.reset();
  info.isNonNegative &= keptBits >= 32;
  return info;
}

/// An extension to a wider type; sign extension of i1 turns true into -1.
static AxisInfo extended(Operation *op, AxisInfo info, bool isSigned) {
  const unsigned bits = tt::elementOf(op->getOperand(0).getType()).getIntOrFloatBitWidth();
  if (isSigned && bits > 1)
    return info;
  info = resized(std::move(info), 64, isSigned);
  if (isSigned || !info.isNonNegative)
    info.constant.reset();
  info.isNonNegative = !isSigned;
  return info;
}

std::optional<AxisInfo> analysis::transferArithmetic(Operation *op, ArrayRef<AxisInfo> operands,
                                                     const AxisInfo &unknown) {
  if (isa<arith::SelectOp>(op))
    return select(operands[0], operands[1], operands[2]);
  if (!tt::elementOf(op->getResult(0).getType()).isInteger() || operands.empty())
    return std::nullopt;
  const AxisInfo &l = operands[0], &r = operands.size() > 1 ? operands[1] : operands[0];
  auto both = [&](Rule rule, bool keepsSign) {
    AxisInfo info = perDim(l, r, unknown, rule);
    info.isNonNegative = keepsSign && l.isNonNegative && r.isNonNegative;
    return info;
  };
  return llvm::TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](arith::AddIOp) {
        AxisInfo info = perDim(l, r, unknown, addDim);
        info.isNonNegative = isSumNonNegative(op, l, r);
        return info;
      })
      .Case([&](arith::SubIOp) { return both(subDim, false); })
      .Case([&](arith::MulIOp) { return multiply(op, l, r, unknown); })
      .Case([&](arith::DivSIOp) { return divide(l, r, unknown, true); })
      .Case([&](arith::DivUIOp) { return divide(l, r, unknown, false); })
      .Case([&](arith::RemSIOp) { return remainder(op, l, r, unknown, true); })
      .Case([&](arith::RemUIOp) { return remainder(op, l, r, unknown, false); })
      .Case([&](arith::AndIOp) { return bitwiseAnd(op, l, r, unknown); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) { return both(bitwiseOrDim, true); })
      .Case([&](arith::ShLIOp) { return shiftLeft(l, r, unknown); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return shiftRight(l, r, unknown); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return minOrMax(l, r, unknown, false); })
      .Case([&](arith::MaxSIOp) { return minOrMax(l, r, unknown, true); })
      .Case([&](arith::MaxUIOp) {
        AxisInfo info = minOrMax(l, r, unknown, true);
        info.isNonNegative = l.isNonNegative && r.isNonNegative;
        return info;
      })
      .Case([&](arith::CmpIOp compared) { return compare(compared, l, r, unknown); })
      .Case([&](arith::ExtSIOp) { return extended(op, l, true); })
      .Case([&](arith::ExtUIOp) { return extended(op, l, false); })
      .Case([&](arith::TruncIOp) {
        return resized(l, tt::elementOf(op->getResult(0).getType()).getIntOrFloatBitWidth(), true);
      })
      .Default([](Operation *) { return std::nullopt; });
}
