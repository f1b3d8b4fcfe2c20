// Uses conditions on a kernel's arguments to simplify the forms of its tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/KernelTiles.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using artifact::LaunchOp;
using index::AffineForm;
using index::AffineInfo;
using index::Polynomial;

int64_t KernelTiles::divisibility(const Polynomial &polynomial) const {
  const int64_t most = index::powerOfTwoIn(0); // divisible by everything
  int64_t least = most;
  for (const Polynomial::Term &term : polynomial.terms()) {
    int64_t divides = index::powerOfTwoIn(term.coefficient);
    for (unsigned factor : term.factors) {
      auto remainder = remainders.find(factor);
      if (remainder != remainders.end() && remainder->second)
        divides *= remainder->second->divisibility;
      else if (Value value = info.valueOf(factor))
        divides *= axisInfo.of(value).elementDivisibility();
      divides = std::min(divides, most);
    }
    least = std::min(least, divides);
  }
  return least;
}

//--- signs ---------------------------------------------------------------------------------

bool KernelTiles::isNonNegative(const Polynomial &polynomial) {
  return llvm::all_of(polynomial.terms(), [&](const Polynomial::Term &term) {
    return term.coefficient > 0 && llvm::all_of(term.factors, [&](unsigned factor) {
             const AffineInfo::Variable &variable = info.variable(factor);
             return variable.loop || isNonNegative(variable.value);
           });
  });
}

/// Of a scalar, or of a tile's first element. The launcher checks what depends on arguments alone.
bool KernelTiles::isNonNegative(Value value) {
  if (std::optional<LaunchCode> code = launchCodeOf(value)) {
    conditions.push_back(std::move(*code));
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op))
    return true;
  auto holds = [&](unsigned index) {
    const AffineForm *form = of(op->getOperand(index));
    return form && !form->base && isNonNegative(form->start);
  };
  // No index is divided by a negative number.
  if (isa_and_nonnull<arith::RemSIOp, arith::DivSIOp, arith::ShRSIOp>(op))
    return holds(0);
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return holds(0) && holds(1);
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return holds(0) || holds(1);
  return isa_and_nonnull<arith::SelectOp>(op) && holds(1) && holds(2);
}

//--- remainders ----------------------------------------------------------------------------

const AffineForm *KernelTiles::of(Value value) {
  const AffineForm *form = info.assumed(value);
  return form && llvm::all_of(form->assumptions, [&](unsigned assumption) { return holds(assumption); }) ? form
                                                                                                         : nullptr;
}

bool KernelTiles::holds(unsigned assumption) {
  auto found = remainders.find(assumption);
  if (found == remainders.end()) {
    std::optional<CheckedRemainder> checked = check(info.variable(assumption));
    found = remainders.insert({assumption, std::move(checked)}).first;
  }
  return found->second.has_value();
}

void KernelTiles::addConditionsOf(const Polynomial &polynomial) {
  for (const Polynomial::Term &term : polynomial.terms())
    for (unsigned factor : term.factors)
      if (auto found = remainders.find(factor); found != remainders.end() && found->second)
        llvm::append_range(conditions, found->second->conditions);
}

/// (dividend + i) % n of a tile whose extent divides both the dividend and `n` is dividend % n + i.
std::optional<KernelTiles::CheckedRemainder> KernelTiles::check(const AffineInfo::Variable &variable) {
  const auto &[dividend, divisor, extent] = *variable.remainder;
  auto op = variable.value.getDefiningOp<arith::RemSIOp>();
  const auto number = op ? launchCodeOf(divisor, info) : std::nullopt;
  if (!number || extent == 1 || divisibility(dividend) % extent)
    return std::nullopt;
  SmallVector<LaunchCode> outer = takeConditions();
  const bool isKnown = isNonNegative(dividend);
  addConditionsOf(dividend);
  CheckedRemainder remainder{{}, extent, takeConditions()};
  conditions = std::move(outer);
  OpBuilder builder(op);
  Value start = isKnown ? materialise(builder, op.getLoc(), dividend) : Value();
  Value by = start ? materialise(builder, op.getLoc(), divisor) : Value();
  if (!by)
    return std::nullopt;
  remainder.conditions.push_back(mustNotBePositive(combine(LaunchOp::Rem, *number, launchConstant(extent))));
  remainder.conditions.push_back(combine(LaunchOp::Sub, *number, launchConstant(1)));
  remainder.value = arith::RemSIOp::create(builder, op.getLoc(), start, by);
  return remainder;
}

//--- code of the kernel --------------------------------------------------------------------

static Value constant(OpBuilder &builder, Location loc, int64_t number) {
  return arith::ConstantIntOp::create(builder, loc, number, 32);
}

/// A count of iterations is (iv - lower) / step.
Value KernelTiles::materialise(OpBuilder &builder, Location loc, unsigned index) {
  if (auto found = remainders.find(index); found != remainders.end() && found->second)
    return found->second->value;
  const AffineInfo::Variable &variable = info.variable(index);
  if (!variable.loop)
    return variable.value.getType().isInteger(32) ? variable.value : Value();
  scf::ForOp loop = variable.loop;
  if (!loop.getInductionVar().getType().isInteger(32))
    return {};
  Value passed = loop.getInductionVar();
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    passed = arith::SubIOp::create(builder, loc, passed, loop.getLowerBound());
  if (!matchPattern(loop.getStep(), m_One()))
    passed = arith::DivSIOp::create(builder, loc, passed, loop.getStep());
  return passed;
}

/// Splits `polynomial` into a multiple of a loop's induction variable and a rest with fewer terms: the variable is the
/// lower bound and a multiple of the count of iterations.
std::optional<KernelTiles::InductionTerm> KernelTiles::findInduction(const Polynomial &polynomial) {
  for (const Polynomial::Term &term : polynomial.terms()) {
    scf::ForOp loop = term.factors.size() == 1 ? info.variable(term.factors.front()).loop : scf::ForOp();
    const AffineForm *whole = loop ? of(loop.getInductionVar()) : nullptr;
    APInt step;
    if (!whole || !matchPattern(loop.getStep(), m_ConstantInt(&step)) || term.coefficient % step.getSExtValue())
      continue;
    const int64_t scale = term.coefficient / step.getSExtValue();
    auto rest = polynomial.plus(whole->start, -scale);
    if (rest && rest->terms().size() < polynomial.terms().size())
      return InductionTerm{loop.getInductionVar(), scale, std::move(*rest)};
  }
  return std::nullopt;
}

Value KernelTiles::materialise(OpBuilder &builder, Location loc, const Polynomial &polynomial) {
  if (auto induction = findInduction(polynomial)) {
    Value term = induction->variable, rest;
    if (!term.getType().isInteger(32) || !llvm::isInt<32>(induction->scale))
      return {};
    if (induction->scale != 1)
      term = arith::MulIOp::create(builder, loc, term, constant(builder, loc, induction->scale));
    if (!induction->rest.isZero() && !(rest = materialise(builder, loc, induction->rest)))
      return {};
    return rest ? arith::AddIOp::create(builder, loc, rest, term) : term;
  }
  Value sum;
  for (const Polynomial::Term &term : polynomial.terms()) {
    if (!llvm::isInt<32>(term.coefficient))
      return {};
    Value product;
    const int64_t coefficient = term.coefficient;
    for (unsigned factor : term.factors) {
      Value value = materialise(builder, loc, factor);
      if (!value)
        return {};
      product = product ? arith::MulIOp::create(builder, loc, product, value) : value;
    }
    if (!product)
      product = constant(builder, loc, coefficient);
    else if (coefficient != 1)
      product = arith::MulIOp::create(builder, loc, product, constant(builder, loc, coefficient));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, product) : product;
  }
  return sum ? sum : constant(builder, loc, 0);
}
