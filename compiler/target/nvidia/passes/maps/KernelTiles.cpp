// Uses conditions on a kernel's arguments to simplify the forms of its tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/KernelTiles.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using analysis::AffineForm;
using artifact::LaunchOp;
using index::Polynomial;

int64_t KernelTiles::divisibility(const Polynomial &polynomial) const {
  const int64_t most = analysis::powerOfTwoIn(0); // divisible by everything
  int64_t least = most;
  for (const Polynomial::Term &term : polynomial.terms()) {
    int64_t divides = analysis::powerOfTwoIn(term.coefficient);
    for (unsigned factor : term.factors) {
      auto remainder = remainders.find(factor);
      if (remainder != remainders.end())
        divides *= remainder->second.divisibility;
      else if (Value value = variable(factor).value)
        divides *= axisInfo.of(value).elementDivisibility();
      divides = std::min(divides, most);
    }
    least = std::min(least, divides);
  }
  return least;
}

bool KernelTiles::isKnownNonNegative(Value value) {
  std::optional<LaunchCode> code = launchCodeOf(value);
  if (code)
    conditions.push_back(std::move(*code));
  return code.has_value();
}

void KernelTiles::addConditionsOf(const Polynomial &polynomial) {
  for (const Polynomial::Term &term : polynomial.terms())
    for (unsigned factor : term.factors)
      if (auto found = remainders.find(factor); found != remainders.end())
        llvm::append_range(conditions, found->second.conditions);
}

/// (start + i) % n of a tile whose extent divides both `start` and `n` is start % n + i.
std::optional<AffineForm> KernelTiles::ofRemainder(arith::RemSIOp op, const AffineForm &dividend,
                                                   const Polynomial &divisor) {
  auto tile = dyn_cast<RankedTensorType>(op.getType());
  auto varies = [](const Polynomial &step) { return !step.isZero(); };
  if (!tile || llvm::count_if(dividend.steps, varies) != 1)
    return std::nullopt;
  const unsigned dim = llvm::find_if(dividend.steps, varies) - dividend.steps.begin();
  const int64_t extent = tile.getShape()[dim];
  const auto number = launchCodeOf(divisor, *this);
  if (!number || dividend.steps[dim] != Polynomial::ofConstant(1) || divisibility(dividend.start) % extent)
    return std::nullopt;
  SmallVector<LaunchCode> outer = takeConditions();
  const bool isNonNegative = AffineTiles::isNonNegative(dividend.start);
  addConditionsOf(dividend.start);
  Remainder remainder{extent, takeConditions()};
  conditions = std::move(outer);
  OpBuilder builder(op);
  Value start = isNonNegative ? materialise(builder, op.getLoc(), dividend.start) : Value();
  Value by = start ? materialise(builder, op.getLoc(), divisor) : Value();
  if (!by)
    return std::nullopt;
  remainder.conditions.push_back(mustNotBePositive(combine(LaunchOp::Rem, *number, launchConstant(extent))));
  remainder.conditions.push_back(combine(LaunchOp::Sub, *number, launchConstant(1)));
  const unsigned made = variableOf(arith::RemSIOp::create(builder, op.getLoc(), start, by));
  remainders[made] = std::move(remainder);
  return AffineForm{nullptr, Polynomial::ofVariable(made), dividend.steps};
}

//--- code of the kernel --------------------------------------------------------------------

static Value constant(OpBuilder &builder, Location loc, int64_t number) {
  return arith::ConstantIntOp::create(builder, loc, number, 32);
}

/// A count of iterations is (iv - lower) / step.
Value KernelTiles::materialise(OpBuilder &builder, Location loc, const Variable &variable) {
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
    scf::ForOp loop = term.factors.size() == 1 ? variable(term.factors.front()).loop : scf::ForOp();
    auto whole = loop ? of(loop.getInductionVar()) : std::nullopt;
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
      Value value = materialise(builder, loc, variable(factor));
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
