// Computes the range of an integer from those of an op's operands.
// SPDX-License-Identifier: MIT
#include "compiler/index/IntegerRange.h"

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

IntegerRange IntegerRange::whole(Type type) {
  const Type element = tt::elementOf(type);
  const unsigned bits = element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
  return {llvm::minIntN(bits), llvm::maxIntN(bits)};
}

IntegerRange IntegerRange::within(IntegerRange other) const {
  return {std::clamp(low, other.low, other.high), std::clamp(high, other.low, other.high)};
}

static int64_t saturated(__int128 number) {
  constexpr __int128 low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(number, low, high));
}

static IntegerRange sum(IntegerRange a, IntegerRange b) {
  return {saturated(__int128{a.low} + b.low), saturated(__int128{a.high} + b.high)};
}

static IntegerRange difference(IntegerRange a, IntegerRange b) {
  return {saturated(__int128{a.low} - b.high), saturated(__int128{a.high} - b.low)};
}

static IntegerRange product(IntegerRange a, IntegerRange b) {
  const __int128 corners[] = {__int128{a.low} * b.low, __int128{a.low} * b.high, __int128{a.high} * b.low,
                              __int128{a.high} * b.high};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {saturated(*low), saturated(*high)};
}

/// A quotient is no farther from zero than its dividend. Nothing is divided by zero.
static IntegerRange quotient(IntegerRange a, IntegerRange b) {
  if (b.low == 0)
    b = {1, std::max<int64_t>(b.high, 1)};
  if (b.low < 0) {
    const __int128 most = std::max(-__int128{a.low}, __int128{a.high});
    return {saturated(-most), saturated(most)};
  }
  return {a.low < 0 ? a.low / b.low : a.low / b.high, a.high < 0 ? a.high / b.high : a.high / b.low};
}

/// A remainder has the sign of its dividend.
static IntegerRange remainder(IntegerRange a, IntegerRange b) {
  const int64_t most = saturated(std::max({__int128{1}, -__int128{b.low}, __int128{b.high}}) - 1);
  return {std::max(-most, std::min<int64_t>(a.low, 0)), std::min(most, std::max<int64_t>(a.high, 0))};
}

/// All bits below the highest one.
static int64_t bitsOf(int64_t number) {
  return static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(64 - llvm::countl_zero(uint64_t(number))));
}

static std::optional<IntegerRange> bitwise(Operation *op, IntegerRange a, IntegerRange b) {
  const bool isAnd = isa<arith::AndIOp>(op);
  if (isAnd && (a.low >= 0 || b.low >= 0))
    return IntegerRange{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
  if (!isAnd && a.low >= 0 && b.low >= 0)
    return IntegerRange{0, bitsOf(a.high | b.high)};
  return std::nullopt;
}

static std::optional<IntegerRange> shifted(Operation *op, IntegerRange a, IntegerRange by) {
  if (by.low < 0 || by.high > 62)
    return std::nullopt;
  const IntegerRange factor{int64_t{1} << by.low, int64_t{1} << by.high};
  if (isa<arith::ShLIOp>(op))
    return product(a, factor);
  if (a.low < 0 && isa<arith::ShRUIOp>(op))
    return std::nullopt;
  return IntegerRange{a.low >> (a.low < 0 ? by.low : by.high), a.high >> (a.high < 0 ? by.high : by.low)};
}

static std::optional<IntegerRange> ofConstant(arith::ConstantOp op) {
  auto of = [](const APInt &number) { return IntegerRange{number.getSExtValue(), number.getSExtValue()}; };
  if (auto number = dyn_cast<IntegerAttr>(op.getValue()))
    return of(number.getValue());
  auto numbers = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!numbers || numbers.empty())
    return std::nullopt;
  IntegerRange range = of(*numbers.value_begin<APInt>());
  if (!numbers.isSplat())
    for (const APInt &number : numbers.getValues<APInt>())
      range = range.join(of(number));
  return range;
}

/// HIP and CUDA: a grid has less than 2^31 programs along each axis.
static constexpr int64_t kMostPrograms = std::numeric_limits<int32_t>::max();

/// Of an op that makes numbers of others.
static std::optional<IntegerRange> ofArithmetic(Operation *op, ArrayRef<IntegerRange> operands) {
  if (operands.empty())
    return std::nullopt;
  const IntegerRange a = operands.front(), b = operands.back();
  const bool areNonNegative = a.low >= 0 && b.low >= 0;
  return llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
      .Case([&](arith::AddIOp) { return sum(a, b); })
      .Case([&](arith::SubIOp) { return difference(a, b); })
      .Case([&](arith::MulIOp) { return product(a, b); })
      .Case([&](arith::DivSIOp) { return quotient(a, b); })
      .Case([&](arith::RemSIOp) { return remainder(a, b); })
      .Case([&](arith::MinSIOp) { return IntegerRange{std::min(a.low, b.low), std::min(a.high, b.high)}; })
      .Case([&](arith::MaxSIOp) { return IntegerRange{std::max(a.low, b.low), std::max(a.high, b.high)}; })
      .Case([&](arith::DivUIOp) { return areNonNegative ? std::optional(quotient(a, b)) : std::nullopt; })
      .Case([&](arith::RemUIOp) { return areNonNegative ? std::optional(remainder(a, b)) : std::nullopt; })
      .Case<arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return areNonNegative ? std::optional(a.join(b)) : std::nullopt; })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto) { return bitwise(op, a, b); })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return shifted(op, a, b); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return a; })
      .Case([&](arith::ExtUIOp) {
        const IntegerRange all = IntegerRange::whole(op->getOperand(0).getType());
        return a.low >= 0 ? a : IntegerRange{0, saturated(2 * __int128{all.high} + 1)};
      })
      .Case([&](arith::TruncIOp) {
        return a.within(IntegerRange::whole(op->getResult(0).getType())) == a ? std::optional(a) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<IntegerRange> analysis::rangeOf(Operation *op, ArrayRef<IntegerRange> operands) {
  if (OperandRange sources = tt::elementSources(op); !sources.empty()) {
    IntegerRange range = operands[sources.getBeginOperandIndex()];
    for (IntegerRange source : operands.slice(sources.getBeginOperandIndex(), sources.size()))
      range = range.join(source);
    return range;
  }
  return llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
      .Case([&](arith::ConstantOp constant) { return ofConstant(constant); })
      .Case([&](tt::MakeRangeOp range) {
        return IntegerRange{static_cast<int32_t>(range.getStart()), static_cast<int32_t>(range.getEnd()) - 1};
      })
      .Case([&](tt::GetProgramIdOp) { return IntegerRange{0, kMostPrograms - 1}; })
      .Case([&](tt::GetNumProgramsOp) { return IntegerRange{1, kMostPrograms}; })
      .Default([&](Operation *) { return ofArithmetic(op, operands); });
}

IntegerRange IntegerRange::where(arith::CmpIPredicate predicate, int64_t bound) const {
  using P = arith::CmpIPredicate;
  IntegerRange range = *this;
  if (predicate == P::slt || predicate == P::sle || predicate == P::eq)
    range.high = std::min(high, saturated(__int128{bound} - (predicate == P::slt)));
  if (predicate == P::sgt || predicate == P::sge || predicate == P::eq)
    range.low = std::max(low, saturated(__int128{bound} + (predicate == P::sgt)));
  return range.low > range.high ? *this : range; // conditions that contradict each other
}
