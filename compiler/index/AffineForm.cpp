// Derives affine forms op by op.
// SPDX-License-Identifier: MIT
#include "compiler/index/AffineForm.h"
#include "compiler/dialect/tt/Elements.h"

#include "compiler/index/Growth.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

bool index::isContiguous(const AffineForm &form, unsigned dim, Value pointer) {
  return form.steps[dim].constant() == bytesOfPointee(pointer);
}

int64_t index::bytesOfPointee(Value pointer) {
  const Type pointee = cast<tt::PointerType>(tt::elementOf(pointer.getType())).getPointee();
  return tt::storageBytes(pointee);
}

//--- sums and products ---------------------------------------------------------------------

std::optional<AffineForm> index::sum(const AffineForm &a, const AffineForm &b, int64_t factor) {
  auto start = a.start.plus(b.start, factor);
  if (!start)
    return std::nullopt;
  AffineForm form{a.base, std::move(*start), {}, a.assumptions};
  for (unsigned variable : b.assumptions)
    if (!llvm::is_contained(form.assumptions, variable))
      form.assumptions.push_back(variable);
  for (auto [left, right] : llvm::zip_equal(a.steps, b.steps)) {
    auto step = left.plus(right, factor);
    if (!step)
      return std::nullopt;
    form.steps.push_back(std::move(*step));
  }
  return form;
}

/// One of them varies over the tile and the other does not.
static std::optional<AffineForm> product(const AffineForm &a, const AffineForm &b) {
  if ((!a.isUniform() && !b.isUniform()) || (!a.assumptions.empty() && !b.assumptions.empty()))
    return std::nullopt;
  const AffineForm &tile = a.isUniform() ? b : a;
  const Polynomial &factor = a.isUniform() ? a.start : b.start;
  auto start = tile.start.times(factor);
  if (!start)
    return std::nullopt;
  AffineForm form{{}, std::move(*start), {}, a.assumptions.empty() ? b.assumptions : a.assumptions};
  for (const Polynomial &step : tile.steps) {
    auto scaled = step.times(factor);
    if (!scaled)
      return std::nullopt;
    form.steps.push_back(std::move(*scaled));
  }
  return form;
}

std::optional<unsigned> index::dimOfOneStep(const AffineForm &form) {
  std::optional<unsigned> dim;
  for (auto [index, step] : llvm::enumerate(form.steps)) {
    if (step.isZero())
      continue;
    if (dim || step.constant() != 1)
      return std::nullopt;
    dim = index;
  }
  return dim;
}

const index::AxisInfoAnalysis &AffineInfo::axes(Value value) {
  if (!axisInfo)
    axisInfo.emplace(value.getParentRegion()->getParentOfType<tt::FuncOp>());
  return *axisInfo;
}

//--- scalars -------------------------------------------------------------------------------

unsigned AffineInfo::variableOf(Variable variable) {
  const void *key = variable.loop ? variable.loop.getAsOpaquePointer() : variable.value.getAsOpaquePointer();
  auto [entry, isNew] = variableIds.try_emplace(key, variables.size());
  if (isNew)
    variables.push_back(std::make_unique<Variable>(std::move(variable)));
  return entry->second;
}

AffineForm AffineInfo::ofScalar(Value scalar) {
  if (isa<tt::PointerType>(scalar.getType()))
    return {scalar, {}, {}, {}};
  return {{}, Polynomial::ofVariable(variableOf({scalar, {}, {}})), {}, {}};
}

Polynomial AffineInfo::iterationsBefore(scf::ForOp loop) { return Polynomial::ofVariable(variableOf({{}, loop, {}})); }

/// What a loop carries by equal steps, or counts: the first value, and a step for each iteration before.
std::optional<AffineForm> AffineInfo::analyseArgument(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || scalars == Scalars::Whole)
    return std::nullopt;
  const bool isCounter = argument == loop.getInductionVar();
  const AffineForm *first = affine(isCounter ? loop.getLowerBound() : loop.getTiedLoopInit(argument)->get());
  const auto step = first ? Growth(*this, loop).of(argument) : std::nullopt;
  const auto passed = step ? iterationsBefore(loop).times(*step) : std::nullopt;
  auto start = passed ? first->start.plus(*passed) : std::nullopt;
  return start ? std::optional(AffineForm{first->base, std::move(*start), first->steps, {}}) : std::nullopt;
}

//--- ops -----------------------------------------------------------------------------------

const AffineForm *AffineInfo::assumed(Value value) {
  if (auto found = forms.find(value); found != forms.end())
    return found->second.get();
  forms[value] = nullptr; // what a loop carries is not affine in itself
  std::optional<AffineForm> form = analyse(value);
  if (form)
    for (auto [step, extent] : llvm::zip_equal(form->steps, tt::shapeOf(value.getType())))
      if (extent == 1)
        step = {};
  return (forms[value] = form ? std::make_unique<AffineForm>(std::move(*form)) : nullptr).get();
}

/// Integers that are wide enough for offsets.
static bool isIndexLike(Type element) {
  return isa<IndexType>(element) || element.isInteger(32) || element.isInteger(64);
}

std::optional<AffineForm> AffineInfo::analyse(Value value) {
  const Type element = tt::elementOf(value.getType());
  const bool isScalar = !isa<RankedTensorType>(value.getType());
  if (!isa<tt::PointerType>(element) && !isIndexLike(element))
    return std::nullopt;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return AffineForm{{},
                      Polynomial::ofConstant(number.getSExtValue()),
                      SmallVector<Polynomial, 2>(tt::shapeOf(value.getType()).size()),
                      {}};
  if (isScalar && scalars == Scalars::Whole) {
    auto extended = value.getDefiningOp<arith::ExtSIOp>();
    return ofScalar(extended && isIndexLike(extended.getIn().getType()) ? extended.getIn() : value);
  }
  Operation *op = value.getDefiningOp();
  auto form = op ? analyseOp(op, cast<OpResult>(value).getResultNumber()) : analyseArgument(cast<BlockArgument>(value));
  return form || !isScalar ? std::move(form) : ofScalar(value);
}

std::optional<AffineForm> AffineInfo::analyseOp(Operation *op, unsigned result) {
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return AffineForm{
        {}, Polynomial::ofConstant(static_cast<int32_t>(range.getStart())), {Polynomial::ofConstant(1)}, {}};
  if (isa<tt::ElementMapOpInterface>(op) && op->getNumOperands() == 1)
    return analyseMove(op, result);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return analyseRemainder(op);
  if (isa<arith::ExtSIOp, arith::IndexCastOp, tt::BitcastOp>(op)) {
    const AffineForm *form = assumed(op->getOperand(0));
    return form ? std::optional(*form) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, tt::AddPtrOp>(op))
    return std::nullopt;
  const AffineForm *a = assumed(op->getOperand(0)), *b = a ? assumed(op->getOperand(1)) : nullptr;
  if (!b)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return product(*a, *b);
  if (isa<tt::AddPtrOp>(op))
    return sum(*a, *b, bytesOfPointee(op->getResult(0)));
  return sum(*a, *b, isa<arith::SubIOp>(op) ? -1 : 1);
}

/// The same elements at other coordinates.
std::optional<AffineForm> AffineInfo::analyseMove(Operation *op, unsigned result) {
  const AffineForm *source = assumed(op->getOperand(0));
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  if (!source || (reshape && reshape.getAllowReorder()))
    return std::nullopt;
  AffineForm form{source->base, source->start,
                  SmallVector<Polynomial, 2>(tt::shapeOf(op->getResult(result).getType()).size()), source->assumptions};
  for (auto [index, step] : llvm::zip_equal(*tt::elementMapOf(op, 0, result), source->steps)) {
    if (index.kind == tt::ElementIndex::Kind::ResultDim) {
      form.steps[index.number] = step;
    } else if (!step.isZero()) {
      auto start = index.kind == tt::ElementIndex::Kind::Fixed ? form.start.plus(step, index.number) : std::nullopt;
      if (!start)
        return std::nullopt;
      form.start = std::move(*start);
    }
  }
  return form;
}

/// Rows modulo a matrix's height are adjacent except at the wrap.
std::optional<AffineForm> AffineInfo::analyseRemainder(Operation *op) {
  const AffineForm *dividend = affine(op->getOperand(0)), *divisor = dividend ? affine(op->getOperand(1)) : nullptr;
  if (!divisor || !divisor->isUniform() || dividend->steps.empty())
    return std::nullopt;
  const std::optional<unsigned> dim = dimOfOneStep(*dividend);
  if (!dim && !dividend->isUniform())
    return std::nullopt;
  Remainder remainder{dividend->start, divisor->start, dim ? tt::shapeOf(op->getResult(0).getType())[*dim] : 1};
  const unsigned variable = variableOf({op->getResult(0), {}, std::move(remainder)});
  return AffineForm{{}, Polynomial::ofVariable(variable), dividend->steps, {variable}};
}
