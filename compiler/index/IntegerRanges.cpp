// Computes the range of an integer from those of its operands.
// SPDX-License-Identifier: MIT
#include "compiler/index/IntegerRanges.h"
#include "compiler/index/Wrap.h"

#include "compiler/dialect/imported/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

//--- arithmetic ----------------------------------------------------------------------------

static IntegerRange wholeRange(Type type) {
  Type element = tt::elementOf(type);
  const unsigned bits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
  return {llvm::minIntN(bits), llvm::maxIntN(bits)};
}

static IntegerRange join(IntegerRange a, IntegerRange b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// What of `a` is in `b`; the nearest number of `b` where nothing is.
static IntegerRange clamp(IntegerRange a, IntegerRange b) {
  return {std::clamp(a.low, b.low, b.high), std::clamp(a.high, b.low, b.high)};
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

/// A quotient is no farther from zero than its dividend.
static IntegerRange quotient(IntegerRange a, IntegerRange b) {
  if (b.low <= 0) {
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
  if (auto number = dyn_cast<IntegerAttr>(op.getValue()))
    return IntegerRange{number.getValue().getSExtValue(), number.getValue().getSExtValue()};
  auto numbers = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!numbers || numbers.empty())
    return std::nullopt;
  std::optional<IntegerRange> range;
  for (const APInt &number : numbers.getValues<APInt>()) {
    const IntegerRange one{number.getSExtValue(), number.getSExtValue()};
    range = range ? join(*range, one) : one;
  }
  return range;
}

//--- assumptions ---------------------------------------------------------------------------

IntegerRanges::IntegerRanges(Operation *root, const AxisInfoAnalysis &axes) : axes(axes) {
  root->walk([&](imported::AssumeOp op) { assumeHolds(op.getCondition(), *op->getBlock()); });
}

/// A comparison with a constant holds wherever its value exists if it is assumed in the basic block that makes it.
void IntegerRanges::assumeHolds(Value condition, Block &block) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op)) {
    assumeHolds(op->getOperand(0), block);
    return assumeHolds(op->getOperand(1), block);
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  const std::optional<int64_t> bound = compare ? axes.of(compare.getRhs()).constant : std::nullopt;
  if (!bound || compare.getLhs().getParentBlock() != &block)
    return;
  const IntegerRange whole = wholeRange(compare.getLhs().getType());
  IntegerRange &range = assumed.try_emplace(compare.getLhs(), whole).first->second;
  using P = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case P::slt:
    range.high = std::min(range.high, saturated(__int128{*bound} - 1));
    break;
  case P::sle:
    range.high = std::min(range.high, *bound);
    break;
  case P::sgt:
    range.low = std::max(range.low, saturated(__int128{*bound} + 1));
    break;
  case P::sge:
    range.low = std::max(range.low, *bound);
    break;
  case P::eq:
    range = {std::max(range.low, *bound), std::min(range.high, *bound)};
    break;
  default:
    break;
  }
  if (range.low > range.high) // assumptions that contradict each other
    range = whole;
}

//--- values --------------------------------------------------------------------------------

IntegerRange IntegerRanges::of(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  const IntegerRange range = compute(value);
  known.insert({value, range});
  return range;
}

IntegerRange IntegerRanges::compute(Value value) {
  const IntegerRange whole = wholeRange(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  IntegerRange range = argument ? ofArgument(argument, whole) : ofOp(value.getDefiningOp(), value, whole);
  if (clamp(range, whole) != range)
    range = index::isOffset(value) ? clamp(range, whole) : whole;
  if (auto found = assumed.find(value); found != assumed.end())
    range = clamp(range, found->second);
  if (axes.of(value).isNonNegative)
    range = clamp(range, {0, whole.high});
  return range;
}

IntegerRange IntegerRanges::ofArgument(BlockArgument argument, IntegerRange whole) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp() || of(loop.getStep()).low < 1)
    return whole;
  const IntegerRange first = of(loop.getLowerBound()), end = of(loop.getUpperBound());
  return {first.low, std::max(first.low, saturated(__int128{end.high} - 1))};
}

/// HIP and CUDA: a grid has less than 2^31 programs along each axis.
static constexpr int64_t kMostPrograms = std::numeric_limits<int32_t>::max();

IntegerRange IntegerRanges::ofOp(Operation *op, Value value, IntegerRange whole) {
  auto operand = [&](unsigned index) { return of(op->getOperand(index)); };
  if (isa<scf::IfOp>(op)) {
    const unsigned index = cast<OpResult>(value).getResultNumber();
    auto branch = cast<scf::IfOp>(op);
    return join(of(branch.thenYield().getOperand(index)), of(branch.elseYield().getOperand(index)));
  }
  if (OperandRange sources = tt::elementSources(op); !sources.empty()) {
    IntegerRange range = of(sources.front());
    for (Value source : sources.drop_front())
      range = join(range, of(source));
    return range;
  }
  const std::optional<IntegerRange> range =
      llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
          .Case([&](arith::ConstantOp constant) { return ofConstant(constant); })
          .Case([&](tt::MakeRangeOp made) {
            return IntegerRange{static_cast<int32_t>(made.getStart()), static_cast<int32_t>(made.getEnd()) - 1};
          })
          .Case([&](tt::GetProgramIdOp) { return IntegerRange{0, kMostPrograms - 1}; })
          .Case([&](tt::GetNumProgramsOp) { return IntegerRange{1, kMostPrograms}; })
          .Case([&](arith::AddIOp) { return sum(operand(0), operand(1)); })
          .Case([&](arith::SubIOp) { return difference(operand(0), operand(1)); })
          .Case([&](arith::MulIOp) { return product(operand(0), operand(1)); })
          .Case([&](arith::DivSIOp) { return quotient(operand(0), operand(1)); })
          .Case([&](arith::RemSIOp) { return remainder(operand(0), operand(1)); })
          .Case([&](arith::MinSIOp) {
            const IntegerRange a = operand(0), b = operand(1);
            return IntegerRange{std::min(a.low, b.low), std::min(a.high, b.high)};
          })
          .Case([&](arith::MaxSIOp) {
            const IntegerRange a = operand(0), b = operand(1);
            return IntegerRange{std::max(a.low, b.low), std::max(a.high, b.high)};
          })
          .Case<arith::DivUIOp, arith::RemUIOp>([&](auto) -> std::optional<IntegerRange> {
            const IntegerRange a = operand(0), b = operand(1);
            if (a.low < 0 || b.low < 0)
              return std::nullopt;
            return isa<arith::DivUIOp>(op) ? quotient(a, {std::max<int64_t>(b.low, 1), std::max<int64_t>(b.high, 1)})
                                           : remainder(a, b);
          })
          .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto) { return bitwise(op, operand(0), operand(1)); })
          .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
              [&](auto) { return shifted(op, operand(0), operand(1)); })
          .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return operand(0); })
          .Case([&](arith::ExtUIOp) {
            const IntegerRange from = operand(0), all = wholeRange(op->getOperand(0).getType());
            return from.low >= 0 ? from : IntegerRange{0, saturated(2 * __int128{all.high} + 1)};
          })
          .Case([&](arith::TruncIOp) {
            const IntegerRange from = operand(0);
            return clamp(from, whole) == from ? std::optional(from) : std::nullopt;
          })
          .Default([](Operation *) { return std::nullopt; });
  return range.value_or(whole);
}
