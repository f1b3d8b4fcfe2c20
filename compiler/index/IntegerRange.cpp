// Computes the range of an integer from those of an op's operands.
// SPDX-License-Identifier: MIT
#include "compiler/index/IntegerRange.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

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

/// What MLIR infers for a bounded type.
static std::optional<IntegerRange> inferred(Operation *op, ArrayRef<IntegerRange> operands) {
  auto inferable = dyn_cast<InferIntRangeInterface>(op);
  SmallVector<ConstantIntRanges, 2> ranges;
  for (auto [operand, range] : llvm::zip_equal(op->getOperands(), operands)) {
    const unsigned bits = ConstantIntRanges::getStorageBitwidth(operand.getType());
    if (!bits)
      return std::nullopt;
    ranges.push_back(ConstantIntRanges::fromSigned(APInt(bits, range.low, true), APInt(bits, range.high, true)));
  }
  std::optional<IntegerRange> result;
  if (inferable)
    inferable.inferResultRanges(ranges, [&](Value, const ConstantIntRanges &range) {
      if (range.smin().getBitWidth())
        result = {range.smin().getSExtValue(), range.smax().getSExtValue()};
    });
  return result;
}

/// HIP and CUDA: a grid has less than 2^31 programs along each axis.
static constexpr int64_t kMostPrograms = std::numeric_limits<int32_t>::max();

/// Of sums and products before they exceed their type, and of quotients by numbers of which little is known.
static std::optional<IntegerRange> ofArithmetic(Operation *op, IntegerRange a, IntegerRange b) {
  return llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
      .Case([&](arith::AddIOp) { return sum(a, b); })
      .Case([&](arith::SubIOp) { return difference(a, b); })
      .Case([&](arith::MulIOp) { return product(a, b); })
      .Case([&](arith::DivSIOp) { return quotient(a, b); })
      .Case([&](arith::RemSIOp) { return remainder(a, b); })
      .Case([&](arith::ShLIOp) {
        const bool isBounded = b.low >= 0 && b.high <= 62;
        return isBounded ? std::optional(product(a, {int64_t{1} << b.low, int64_t{1} << b.high})) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<IntegerRange> index::rangeOf(Operation *op, ArrayRef<IntegerRange> operands) {
  if (OperandRange sources = tt::elementSources(op); !sources.empty()) {
    IntegerRange range = operands[sources.getBeginOperandIndex()];
    for (IntegerRange source : operands.slice(sources.getBeginOperandIndex(), sources.size()))
      range = range.join(source);
    return range;
  }
  return llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
      .Case([&](tt::MakeRangeOp range) {
        return IntegerRange{static_cast<int32_t>(range.getStart()), static_cast<int32_t>(range.getEnd()) - 1};
      })
      .Case([&](tt::GetProgramIdOp) { return IntegerRange{0, kMostPrograms - 1}; })
      .Case([&](tt::GetNumProgramsOp) { return IntegerRange{1, kMostPrograms}; })
      .Default([&](Operation *) {
        const auto range = operands.size() == 2 ? ofArithmetic(op, operands[0], operands[1]) : std::nullopt;
        return range ? range : inferred(op, operands);
      });
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
