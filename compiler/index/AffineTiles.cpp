// Derives affine forms op by op.
// SPDX-License-Identifier: MIT
#include "compiler/index/AffineTiles.h"

#include "compiler/index/AxisInfo.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

static unsigned rankOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getRank() : 0;
}

/// A number or a tile of equal numbers.
static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.trySExtValue();
}

/// Whether no element depends on its coordinates.
static bool isUniform(const AffineForm &form) {
  return llvm::all_of(form.steps, [](const Polynomial &step) { return step.isZero(); });
}

//--- sums and products ---------------------------------------------------------------------

static std::optional<AffineForm> sum(const AffineForm &a, const AffineForm &b, int64_t scale) {
  if (b.base)
    return std::nullopt;
  AffineForm result{a.base, {}, {}};
  auto start = a.start.plus(b.start, scale);
  if (!start)
    return std::nullopt;
  result.start = std::move(*start);
  for (auto [left, right] : llvm::zip_equal(a.steps, b.steps)) {
    auto step = left.plus(right, scale);
    if (!step)
      return std::nullopt;
    result.steps.push_back(std::move(*step));
  }
  return result;
}

static std::optional<AffineForm> product(const AffineForm &a, const AffineForm &b) {
  if (a.base || b.base || (!isUniform(a) && !isUniform(b)))
    return std::nullopt;
  const AffineForm &varying = isUniform(a) ? b : a;
  const Polynomial &factor = isUniform(a) ? a.start : b.start;
  AffineForm result;
  auto start = varying.start.times(factor);
  if (!start)
    return std::nullopt;
  result.start = std::move(*start);
  for (const Polynomial &step : varying.steps) {
    auto scaled = step.times(factor);
    if (!scaled)
      return std::nullopt;
    result.steps.push_back(std::move(*scaled));
  }
  return result;
}

//--- variables -----------------------------------------------------------------------------

unsigned AffineTiles::variableOf(Value value) {
  auto [entry, isNew] = variableOfValue.try_emplace(value, variables.size());
  if (isNew)
    variables.push_back({value, nullptr});
  return entry->second;
}

/// A scalar as a variable of its own.
AffineForm AffineTiles::opaque(Value value) {
  if (isa<tt::PointerType>(value.getType()))
    return {value, {}, {}};
  return {nullptr, Polynomial::ofVariable(variableOf(value)), {}};
}

std::optional<Polynomial> AffineTiles::iterationsBefore(scf::ForOp loop) {
  auto [entry, isNew] = variableOfLoop.try_emplace(loop, variables.size());
  if (isNew)
    variables.push_back({nullptr, loop});
  return Polynomial::ofVariable(entry->second);
}

//--- loops ---------------------------------------------------------------------------------

/// By how much an iteration increases the value `from` on the way to `value`, the same for all elements.
std::optional<Polynomial> AffineTiles::growth(Value value, BlockArgument from) {
  if (value == from)
    return Polynomial();
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<tt::AddPtrOp, arith::AddIOp>(op))
    return std::nullopt;
  for (unsigned index : {0, 1}) {
    auto before = growth(op->getOperand(index), from);
    if (!before)
      continue;
    auto added = of(op->getOperand(1 - index));
    if (!added || added->base || !isUniform(*added))
      return std::nullopt;
    return before->plus(added->start);
  }
  return std::nullopt;
}

/// Whether all scalars of the polynomial are the same in each iteration.
static bool isInvariant(const AffineTiles &tiles, const Polynomial &polynomial, scf::ForOp loop) {
  return llvm::all_of(polynomial.terms(), [&](const Polynomial::Term &term) {
    return llvm::all_of(term.factors, [&](unsigned factor) {
      const AffineTiles::Variable &variable = tiles.variable(factor);
      return variable.loop ? variable.loop->isProperAncestor(loop) : loop.isDefinedOutsideOfLoop(variable.value);
    });
  });
}

std::optional<AffineForm> AffineTiles::ofCarried(scf::ForOp loop, BlockArgument argument) {
  OpOperand *init = loop.getTiedLoopInit(argument), *next = loop.getTiedLoopYieldedValue(argument);
  auto form = of(init->get());
  auto grown = form ? growth(next->get(), argument) : std::nullopt;
  if (!grown || !isInvariant(*this, *grown, loop))
    return std::nullopt;
  auto before = iterationsBefore(loop)->times(*grown);
  auto start = before ? form->start.plus(*before) : std::nullopt;
  if (!start)
    return std::nullopt;
  form->start = std::move(*start);
  return form;
}

std::optional<AffineForm> AffineTiles::ofArgument(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return rankOf(argument) ? std::nullopt : std::optional(opaque(argument));
  if (argument != loop.getInductionVar()) {
    if (auto form = ofCarried(loop, argument))
      return form;
    return rankOf(argument) ? std::nullopt : std::optional(opaque(argument));
  }
  auto lower = of(loop.getLowerBound()), step = of(loop.getStep());
  auto passed = step ? iterationsBefore(loop)->times(step->start) : std::nullopt;
  auto start = lower && passed ? lower->start.plus(*passed) : std::nullopt;
  return start ? std::optional(AffineForm{nullptr, *start, {}}) : std::nullopt;
}

//--- ops -----------------------------------------------------------------------------------

std::optional<AffineForm> AffineTiles::ofOp(Operation *op) {
  auto operand = [&](unsigned index) { return of(op->getOperand(index)); };
  if (isa<arith::AddIOp, arith::SubIOp, tt::AddPtrOp>(op)) {
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    return sum(*a, *b, isa<arith::SubIOp>(op) ? -1 : 1);
  }
  if (isa<arith::MulIOp>(op)) {
    auto a = operand(0), b = operand(1);
    return a && b ? product(*a, *b) : std::nullopt;
  }
  if (isa<arith::ExtSIOp>(op))
    return operand(0);
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return AffineForm{nullptr, Polynomial::ofConstant(range.getStart()), {Polynomial::ofConstant(1)}};
  if (isa<tt::SplatOp>(op)) {
    auto form = operand(0);
    if (form)
      form->steps.assign(rankOf(op->getResult(0)), Polynomial());
    return form;
  }
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    auto form = operand(0);
    if (form)
      form->steps.insert(form->steps.begin() + expand.getAxis(), Polynomial());
    return form;
  }
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    auto form = operand(0);
    if (form)
      for (auto [extent, step] : llvm::zip_equal(broadcast.getSrc().getType().getShape(), form->steps))
        step = extent == 1 ? Polynomial() : step;
    return form;
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    auto form = operand(0);
    if (!form)
      return std::nullopt;
    AffineForm result{form->base, form->start, {}};
    for (int32_t dim : trans.getOrder())
      result.steps.push_back(form->steps[dim]);
    return result;
  }
  if (auto remainder = dyn_cast<arith::RemSIOp>(op)) {
    auto dividend = operand(0), divisor = operand(1);
    if (dividend && divisor && !dividend->base && isUniform(*divisor))
      return ofRemainder(remainder, *dividend, divisor->start);
  }
  return std::nullopt;
}

std::optional<AffineForm> AffineTiles::compute(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (!isa<tt::PointerType>(element) && !element.isInteger(32) && !element.isInteger(64))
    return std::nullopt;
  if (std::optional<int64_t> number = constantOf(value))
    return AffineForm{nullptr, Polynomial::ofConstant(*number),
                      SmallVector<Polynomial, 2>(rankOf(value), Polynomial())};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  if (auto form = ofOp(value.getDefiningOp()))
    return form;
  return rankOf(value) ? std::nullopt : std::optional(opaque(value));
}

std::optional<AffineForm> AffineTiles::of(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  auto form = compute(value);
  known.insert({value, form});
  return form;
}

//--- signs ---------------------------------------------------------------------------------

bool AffineTiles::isNonNegative(const Polynomial &polynomial) {
  return llvm::all_of(polynomial.terms(), [&](const Polynomial::Term &term) {
    return term.coefficient > 0 && llvm::all_of(term.factors, [&](unsigned factor) {
             return variables[factor].loop || isNonNegative(variables[factor].value);
           });
  });
}

bool AffineTiles::isNonNegative(Value value) {
  if (isKnownNonNegative(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op))
    return true;
  auto holds = [&](unsigned index) {
    auto form = of(op->getOperand(index));
    return form && !form->base && isNonNegative(form->start);
  };
  // No index is divided by a negative number.
  if (isa_and_nonnull<arith::RemSIOp, arith::DivSIOp, arith::ShRSIOp>(op))
    return holds(0);
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return holds(0) && holds(1);
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return holds(0) || holds(1);
  if (isa_and_nonnull<arith::SelectOp>(op))
    return holds(1) && holds(2);
  return false;
}
