// Computes the axis info of integer arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/index/AxisRules.h"
#include "compiler/index/Wrap.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

namespace {
using Dim = AxisInfo::Dim;
/// Computes one dimension's info from that of two operands.
using Rule = llvm::function_ref<void(const AxisInfo &l, const AxisInfo &r, unsigned dim, AxisInfo &result)>;
} // namespace

/// Groups in which both sides are constant, with each dimension refined by `rule`.
static AxisInfo perDim(const AxisInfo &l, const AxisInfo &r, AxisInfo info, Rule rule) {
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    info.setGroup(dim, std::min(l.constancy(dim), r.constancy(dim)), 0);
    rule(l, r, dim, info);
  }
  return info;
}

/// Groups of l whose bits from a power of two on are the same, and over which r is one multiple of that.
static int64_t alignedGroup(const AxisInfo &l, const AxisInfo &r, unsigned dim) {
  return std::min(l.alignedGroup(dim, r.divisibilityAt(dim, 1)), r.constancy(dim));
}

/// Groups that are longer than those known.
static void extend(AxisInfo &info, unsigned dim, int64_t size, int64_t step) {
  if (size > info.dims[dim].group)
    info.setGroup(dim, size, step);
}

/// What divides both sides divides the result.
static void setCommonDivisor(const AxisInfo &l, const AxisInfo &r, unsigned dim, AxisInfo &result) {
  const int64_t size = result.dims[dim].group;
  result.dims[dim].divisibility = std::min(l.divisibilityAt(dim, size), r.divisibilityAt(dim, size));
}

AxisInfo index::sumOf(const AxisInfo &l, const AxisInfo &r, AxisInfo sum, int64_t factor) {
  for (unsigned dim = 0; dim < sum.dims.size(); ++dim) {
    sum.setGroup(dim, std::min(l.dims[dim].group, r.dims[dim].group), l.dims[dim].step + r.dims[dim].step * factor);
    const int64_t size = sum.dims[dim].group;
    sum.dims[dim].divisibility =
        std::min(l.divisibilityAt(dim, size), r.divisibilityAt(dim, size) * powerOfTwoIn(factor));
  }
  return sum;
}

static AxisInfo multiply(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (l.constant() == 1)
    return r;
  if (r.constant() == 1)
    return l;
  const int64_t limit = int64_t(1) << 30;
  const int64_t product = std::min(limit, l.elementDivisibility() * r.elementDivisibility());
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, AxisInfo &result) {
    for (auto [tile, factor] : {std::pair(&l, r.constant()), std::pair(&r, l.constant())})
      if (factor && llvm::isInt<32>(*factor))
        extend(result, dim, tile->dims[dim].group, tile->dims[dim].step * *factor);
    const int64_t size = result.dims[dim].group;
    result.dims[dim].divisibility =
        std::max(product, std::min(limit, l.divisibilityAt(dim, size) * r.divisibilityAt(dim, size)));
  });
}

/// A tile like another one, of which every element is one number.
static AxisInfo filledWith(int64_t number, AxisInfo like) {
  for (Dim &dim : like.dims)
    dim = {powerOfTwoIn(0), 0, powerOfTwoIn(number)};
  like.range = {number, number};
  return like;
}

/// Numbers of either sign round to one quotient over a group where `roundsDown`. The sign of the divisor only negates
/// the quotients.
static AxisInfo divide(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown, bool roundsDown) {
  const std::optional<int64_t> divisor = r.constant();
  if (divisor == 1)
    return l;
  return perDim(l, divisor ? filledWith(*divisor, r) : r, unknown,
                [&](auto &l, auto &r, unsigned dim, AxisInfo &quotient) {
                  if (roundsDown)
                    extend(quotient, dim, alignedGroup(l, r, dim), 0);
                  if (divisor && *divisor > 0 && powerOfTwoIn(*divisor) == *divisor)
                    quotient.dims[dim].divisibility =
                        std::max<int64_t>(1, l.divisibilityAt(dim, quotient.dims[dim].group) / *divisor);
                });
}

/// A group continues in the remainder if it stays below the next multiple of what divides the divisor. Only a group
/// that starts at a negative multiple of the divisor steps from 0 to 1 - divisor, which no offset does.
static AxisInfo remainder(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown, bool isSigned) {
  const bool continues = !isSigned || l.isNonNegative() || index::isOffset(op->getResult(0));
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, AxisInfo &rest) {
    if (continues)
      extend(rest, dim, alignedGroup(l, r, dim), l.dims[dim].step);
    setCommonDivisor(l, r, dim, rest);
  });
}

static AxisInfo bitwiseAnd(Operation *op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  // x & (2^n - 1) is x % 2^n.
  for (auto [x, mask] : {std::pair(&l, &r), std::pair(&r, &l)})
    if (mask->constant() && *mask->constant() >= 0 && llvm::isPowerOf2_64(*mask->constant() + 1))
      return remainder(op, *x, filledWith(*mask->constant() + 1, *mask), unknown, /*isSigned=*/false);
  return perDim(l, r, unknown, [](auto &l, auto &r, unsigned dim, AxisInfo &result) {
    result.dims[dim].divisibility = std::max(l.divisibilityAt(dim, 1), r.divisibilityAt(dim, 1));
  });
}

/// The low bits of a group are unchanged where the other side's are zero.
static void bitwiseOrDim(const AxisInfo &l, const AxisInfo &r, unsigned dim, AxisInfo &result) {
  extend(result, dim, alignedGroup(l, r, dim), l.dims[dim].step);
  extend(result, dim, alignedGroup(r, l, dim), r.dims[dim].step);
  setCommonDivisor(l, r, dim, result);
}

/// 2^number, where that is a factor of a shift.
static std::optional<int64_t> factorOf(std::optional<int64_t> number) {
  return number && *number >= 0 && *number < 30 ? std::optional(int64_t(1) << *number) : std::nullopt;
}

static AxisInfo shiftLeft(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  if (const std::optional<int64_t> factor = factorOf(r.constant()))
    return multiply(l, filledWith(*factor, r), unknown);
  return perDim(l, r, unknown, [](auto &l, auto &, unsigned dim, AxisInfo &result) {
    result.dims[dim].divisibility = l.divisibilityAt(dim, 1);
  });
}

static std::optional<AxisInfo> shiftRight(const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  const std::optional<int64_t> divisor = factorOf(r.constant());
  return divisor ? std::optional(divide(l, filledWith(*divisor, r), unknown, /*roundsDown=*/true)) : std::nullopt;
}

/// `run < bound` changes between a multiple of the group and the value below it, as `bound > run` does.
static AxisInfo compare(arith::CmpIOp op, const AxisInfo &l, const AxisInfo &r, const AxisInfo &unknown) {
  using P = arith::CmpIPredicate;
  const P predicate = op.getPredicate();
  const bool runIsLeft = llvm::is_contained({P::slt, P::sge, P::ult, P::uge}, predicate);
  return perDim(l, r, unknown, [&](auto &l, auto &r, unsigned dim, AxisInfo &result) {
    if (predicate != P::eq && predicate != P::ne)
      extend(result, dim, runIsLeft ? alignedGroup(l, r, dim) : alignedGroup(r, l, dim), 0);
  });
}

static AxisInfo select(const AxisInfo &condition, const AxisInfo &l, const AxisInfo &r) {
  if (condition.constant())
    return *condition.constant() ? l : r;
  AxisInfo info = AxisInfo::join(l, r);
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    info.setGroup(dim, std::min(info.dims[dim].group, condition.constancy(dim)), info.dims[dim].step);
    setCommonDivisor(l, r, dim, info);
  }
  return info;
}

/// A group may break where the number's sign or width changes, unless it is aligned.
static AxisInfo resized(const AxisInfo &from, unsigned keptBits, bool keepsSign) {
  AxisInfo info = from;
  for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
    if (keptBits < 32 || !keepsSign)
      info.setGroup(dim, from.alignedGroup(dim, int64_t(1) << std::min(keptBits - 1, 30u)), from.dims[dim].step);
    info.dims[dim].divisibility = from.divisibilityAt(dim, info.dims[dim].group);
  }
  return info;
}

/// An extension to a wider type.
static AxisInfo extended(Operation *op, const AxisInfo &info, bool isSigned) {
  if (llvm::all_of(info.dims, [](const Dim &dim) { return dim.step == 0; }))
    return info;
  const bool keepsSign = isSigned ? index::isOffset(op->getOperand(0)) : info.isNonNegative();
  return resized(info, 64, keepsSign);
}

std::optional<AxisInfo> index::transferArithmetic(Operation *op, ArrayRef<AxisInfo> operands, const AxisInfo &unknown) {
  if (isa<arith::SelectOp>(op))
    return select(operands[0], operands[1], operands[2]);
  if (!tt::elementOf(op->getResult(0).getType()).isIntOrIndex() || operands.empty())
    return std::nullopt;
  const AxisInfo &l = operands[0], &r = operands.size() > 1 ? operands[1] : operands[0];
  auto both = [&](Rule rule) { return perDim(l, r, unknown, rule); };
  return llvm::TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](arith::AddIOp) { return sumOf(l, r, unknown); })
      .Case([&](arith::SubIOp) { return sumOf(l, r, unknown, -1); })
      .Case([&](arith::MulIOp) { return multiply(l, r, unknown); })
      .Case([&](arith::DivSIOp) { return divide(l, r, unknown, l.isNonNegative()); })
      .Case([&](arith::DivUIOp) { return divide(l, r, unknown, true); })
      .Case([&](arith::RemSIOp) { return remainder(op, l, r, unknown, true); })
      .Case([&](arith::RemUIOp) { return remainder(op, l, r, unknown, false); })
      .Case([&](arith::AndIOp) { return bitwiseAnd(op, l, r, unknown); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) { return both(bitwiseOrDim); })
      .Case([&](arith::ShLIOp) { return shiftLeft(l, r, unknown); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return shiftRight(l, r, unknown); })
      .Case<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return both(setCommonDivisor); })
      .Case([&](arith::CmpIOp compared) { return compare(compared, l, r, unknown); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return extended(op, l, true); })
      .Case([&](arith::ExtUIOp) { return extended(op, l, false); })
      .Case([&](arith::TruncIOp) {
        return resized(l, tt::elementOf(op->getResult(0).getType()).getIntOrFloatBitWidth(), true);
      })
      .Default([](Operation *) { return std::nullopt; });
}
