// Follows integer arithmetic from a launch's arguments to the bounds of loops.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/ScalarValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

using Number = std::optional<int64_t>;

/// Operands that depend on one another more deeply count as unknown.
static constexpr unsigned kMaxDepth = 200;
/// An extent that is read from memory, such as the length of a sequence.
static constexpr double kTypicalExtent = 2048;
static constexpr double kTypicalTrips = 16;
/// After so many iterations a loop whose end is not known in advance counts as ended.
static constexpr unsigned kMaxTrips = 1 << 14;

static Number divided(int64_t a, int64_t b, bool roundsUp = false) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  const int64_t quotient = a / b;
  return roundsUp && a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

static Number compared(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  return std::nullopt;
}

/// The result of an op of two known operands. Sums and products wrap, as those of the program do at most.
static Number binary(Operation *op, int64_t a, int64_t b) {
  const auto wrapped = [](uint64_t value) { return static_cast<int64_t>(value); };
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  return llvm::TypeSwitch<Operation *, Number>(op)
      .Case([&](arith::AddIOp) { return wrapped(ua + ub); })
      .Case([&](arith::SubIOp) { return wrapped(ua - ub); })
      .Case([&](arith::MulIOp) { return wrapped(ua * ub); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>([&](auto) { return divided(a, b); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return divided(a, b, /*roundsUp=*/true); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) -> Number { return b > 0 ? Number(a % b) : std::nullopt; })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return std::min(a, b); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return std::max(a, b); })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Case([&](arith::ShLIOp) -> Number { return b >= 0 && b < 63 ? Number(wrapped(ua << b)) : std::nullopt; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) -> Number { return b >= 0 && b < 63 ? Number(a >> b) : std::nullopt; })
      .Case([&](arith::CmpIOp compare) { return compared(compare.getPredicate(), a, b); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Values are kept sign-extended.
static Number converted(Operation *op, Number value) {
  const auto widthOf = [](Type type) { return type.isIndex() ? 64 : std::min(type.getIntOrFloatBitWidth(), 64u); };
  if (!value)
    return value;
  if (isa<arith::ExtUIOp>(op))
    return int64_t(uint64_t(*value) & llvm::maskTrailingOnes<uint64_t>(widthOf(op->getOperand(0).getType())));
  return llvm::SignExtend64(uint64_t(*value), widthOf(op->getResult(0).getType()));
}

Number ScalarValues::evaluateBranch(scf::IfOp branch, unsigned result) {
  const Number condition = of(branch.getCondition());
  if (!condition || branch.getElseRegion().empty())
    return std::nullopt;
  Block *taken = *condition ? branch.thenBlock() : branch.elseBlock();
  return of(taken->getTerminator()->getOperand(result));
}

Number ScalarValues::evaluateOp(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number && number.getValue().getSignificantBits() <= 64 ? Number(number.getValue().getSExtValue())
                                                                  : std::nullopt;
  }
  if (auto index = dyn_cast<tt::GetProgramIdOp>(op))
    return program[unsigned(index.getAxis())];
  if (auto count = dyn_cast<tt::GetNumProgramsOp>(op))
    return grid[unsigned(count.getAxis())];
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return converted(op, of(op->getOperand(0)));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const Number condition = of(select.getCondition());
    return condition ? of(*condition ? select.getTrueValue() : select.getFalseValue()) : std::nullopt;
  }
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  const Number a = of(op->getOperand(0)), b = of(op->getOperand(1));
  return a && b ? binary(op, *a, *b) : std::nullopt;
}

/// Values that a loop carries count as at its begin.
Number ScalarValues::evaluateArgument(BlockArgument argument) {
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return std::nullopt;
  if (argument != loop.getInductionVar())
    return of(loop.getInitArgs()[argument.getArgNumber() - loop.getNumInductionVars()]);
  const Number first = of(loop.getLowerBound()), step = of(loop.getStep());
  return first && step ? Number(*first + *step * int64_t(tripCount(loop) / 2)) : std::nullopt;
}

Number ScalarValues::evaluate(Value value) {
  if (!value.getType().isIntOrIndex())
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return evaluateArgument(argument);
  if (auto branch = value.getDefiningOp<scf::IfOp>())
    return evaluateBranch(branch, cast<OpResult>(value).getResultNumber());
  return evaluateOp(value.getDefiningOp());
}

Number ScalarValues::of(Value value) {
  if (auto entry = known.find(value); entry != known.end())
    return entry->second;
  if (outer && !loop->isProperAncestor(value.getParentBlock()->getParentOp()) &&
      value.getParentBlock()->getParentOp() != loop)
    return outer->of(value);
  if (depth == kMaxDepth)
    return std::nullopt;
  ++depth;
  const Number number = evaluate(value);
  --depth;
  known[value] = number;
  return number;
}

double ScalarValues::tripCount(scf::ForOp loop) {
  const Number first = of(loop.getLowerBound()), end = of(loop.getUpperBound()), step = of(loop.getStep());
  if (!step || *step <= 0)
    return kTypicalTrips;
  if (!first || !end)
    return std::max(kTypicalExtent / double(*step), 1.0);
  return *end > *first ? double(llvm::divideCeil(uint64_t(*end) - uint64_t(*first), uint64_t(*step))) : 0;
}

double ScalarValues::tripCount(scf::WhileOp loop) {
  SmallVector<Number> carried = llvm::map_to_vector(loop.getInits(), [&](Value value) { return of(value); });
  for (unsigned trips = 1; trips <= kMaxTrips; ++trips) {
    ScalarValues inner(*this, loop);
    const auto pass = [&](Block &block, ValueRange results) {
      for (auto [argument, number] : llvm::zip_equal(block.getArguments(), carried))
        inner.known[argument] = number;
      carried = llvm::map_to_vector(results, [&](Value value) { return inner.of(value); });
    };
    scf::ConditionOp end = loop.getConditionOp();
    pass(*loop.getBeforeBody(), end.getArgs());
    const Number goesOn = inner.of(end.getCondition());
    if (!goesOn)
      return kTypicalTrips;
    if (!*goesOn)
      return trips;
    pass(*loop.getAfterBody(), loop.getYieldOp().getOperands());
  }
  return kMaxTrips;
}
