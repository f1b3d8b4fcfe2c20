// Finds the affine tiles and prefix masks of a function.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Affine.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/cpu/plan/IndexMap.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

bool cpu::isContiguous(const AffineForm &form, unsigned dim, Value pointer) {
  return form.steps[dim].constant() == bytesOfPointee(pointer);
}

//--- forms ---------------------------------------------------------------------------------

uint64_t cpu::storageBytes(Type element) {
  if (isa<tt::PointerType, IndexType>(element))
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t cpu::bytesOfPointee(Value pointer) {
  return storageBytes(cast<tt::PointerType>(tt::elementOf(pointer.getType())).getPointee());
}

unsigned AffineInfo::variableOf(Value scalar) {
  auto [entry, isNew] = variables.try_emplace(scalar, scalars.size());
  if (isNew)
    scalars.push_back(scalar);
  return entry->second;
}

const AffineForm *AffineInfo::assumed(Value value) {
  if (auto found = forms.find(value); found != forms.end())
    return found->second ? &*found->second : nullptr;
  std::optional<AffineForm> form = analyse(value);
  if (form)
    for (auto [step, extent] : llvm::zip_equal(form->steps, tt::shapeOf(value.getType())))
      if (extent == 1)
        step = {};
  // The forms live in a map that may grow: a caller uses the pointer before its next query.
  auto &cached = forms[value] = std::move(form);
  return cached ? &*cached : nullptr;
}

/// Integers that are wide enough to assume that their tiles do not wrap.
static bool isIndexLike(Type element) {
  return isa<IndexType>(element) || element.isInteger(32) || element.isInteger(64);
}

std::optional<AffineForm> AffineInfo::analyse(Value value) {
  Type element = tt::elementOf(value.getType());
  const bool isPointer = isa<tt::PointerType>(element);
  if (!isPointer && !isIndexLike(element))
    return std::nullopt;
  APInt splat;
  const size_t rank = tt::shapeOf(value.getType()).size();
  if (!isPointer && matchPattern(value, m_ConstantInt(&splat)))
    return AffineForm{{}, Polynomial::ofConstant(splat.getSExtValue()), SmallVector<Polynomial, 2>(rank), {}};
  if (!isa<RankedTensorType>(value.getType())) {
    if (isPointer)
      return AffineForm{value, {}, {}, {}};
    if (auto extended = value.getDefiningOp<arith::ExtSIOp>(); extended && isIndexLike(extended.getIn().getType()))
      return AffineForm{{}, Polynomial::ofVariable(variableOf(extended.getIn())), {}, {}};
    return AffineForm{{}, Polynomial::ofVariable(variableOf(value)), {}, {}};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto form = analyseShape(op))
    return form;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return analyseRemainder(op);
  return analyseArithmetic(op);
}

/// Rows modulo a matrix's height are adjacent except at the wrap.
std::optional<AffineForm> AffineInfo::analyseRemainder(Operation *op) {
  const AffineForm *first = affine(op->getOperand(0));
  if (!first)
    return std::nullopt;
  AffineForm form = *first;
  const AffineForm *divisor = affine(op->getOperand(1));
  if (!divisor || !divisor->isUniform())
    return std::nullopt;
  Remainder remainder{form.start, divisor->start, 1};
  for (auto [step, extent] : llvm::zip_equal(form.steps, tt::shapeOf(op->getResult(0).getType()))) {
    if (step.isZero())
      continue;
    if (step.constant() != 1 || remainder.extent != 1)
      return std::nullopt;
    remainder.extent = extent;
  }
  const unsigned variable = variableOf(op->getResult(0));
  remainders[variable] = std::move(remainder);
  form.start = Polynomial::ofVariable(variable);
  form.assumptions = {variable};
  return form;
}

std::optional<AffineForm> AffineInfo::analyseShape(Operation *op) {
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return AffineForm{
        {}, Polynomial::ofConstant(static_cast<int32_t>(range.getStart())), {Polynomial::ofConstant(1)}, {}};
  if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    const AffineForm *scalar = assumed(splat.getSrc());
    if (!scalar)
      return std::nullopt;
    AffineForm form = *scalar;
    form.steps.resize(tt::shapeOf(splat.getType()).size());
    return form;
  }
  if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op))
    return std::nullopt;
  const AffineForm *source = assumed(op->getOperand(0));
  const size_t rank = tt::shapeOf(op->getResult(0).getType()).size();
  auto map = operandMap(op, 0, identityMap(rank));
  if (!source || !map)
    return std::nullopt;
  AffineForm form{source->base, source->start, SmallVector<Polynomial, 2>(rank), source->assumptions};
  for (auto [dim, target] : llvm::enumerate(*map))
    if (target >= 0)
      form.steps[target] = source->steps[dim];
  return form;
}

/// a + b * factor
static std::optional<AffineForm> sum(const AffineForm &a, const AffineForm &b, int64_t factor) {
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

std::optional<AffineForm> AffineInfo::analyseArithmetic(Operation *op) {
  if (isa<arith::ExtSIOp, arith::IndexCastOp, tt::BitcastOp>(op)) {
    const AffineForm *form = assumed(op->getOperand(0));
    return form ? std::optional(*form) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, tt::AddPtrOp>(op))
    return std::nullopt;
  const AffineForm *first = assumed(op->getOperand(0));
  if (!first)
    return std::nullopt;
  const AffineForm a = *first;
  const AffineForm *b = assumed(op->getOperand(1));
  if (!b)
    return std::nullopt;
  if (auto add = dyn_cast<tt::AddPtrOp>(op))
    return sum(a, *b, bytesOfPointee(add.getResult()));
  return isa<arith::MulIOp>(op) ? product(a, *b) : sum(a, *b, isa<arith::SubIOp>(op) ? -1 : 1);
}

//--- masks ---------------------------------------------------------------------------------

const PrefixMask *AffineInfo::prefix(Value mask) {
  auto found = masks.find(mask);
  if (found == masks.end()) {
    std::optional<PrefixMask> result = analyseMask(mask);
    found = masks.try_emplace(mask, std::move(result)).first;
  }
  const std::optional<PrefixMask> &result = found->second;
  return result && !(isExact && result->mayWrap) ? &*result : nullptr;
}

static Value throughShapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether the tile, possibly after shape changes, is an offset of pointers or a part of one.
static bool isOffset(Value tile) {
  SmallVector<Value> waiting = {tile};
  for (unsigned steps = 0; !waiting.empty() && steps < 64; ++steps)
    for (Operation *user : waiting.pop_back_val().getUsers()) {
      if (isa<tt::AddPtrOp>(user))
        return true;
      if (isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, arith::ExtSIOp, arith::AddIOp,
              arith::MulIOp>(user))
        waiting.push_back(user->getResult(0));
    }
  return false;
}

/// Ranges and scalars do not wrap; additions that form offsets are assumed not to.
bool AffineInfo::mayWrap(Value side) {
  Value root = throughShapes(side);
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(root.getDefiningOp()))
    return false;
  return !isOffset(root);
}

std::optional<PrefixMask> AffineInfo::analyseMask(Value mask) {
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  if (!compare || !isa<RankedTensorType>(mask.getType()) ||
      isa<tt::PointerType>(tt::elementOf(compare.getLhs().getType())))
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  Value small = compare.getLhs(), large = compare.getRhs();
  const Predicate predicate = compare.getPredicate();
  if (predicate == Predicate::sgt || predicate == Predicate::sge)
    std::swap(small, large);
  else if (predicate != Predicate::slt && predicate != Predicate::sle)
    return std::nullopt;
  const AffineForm *low = affine(small);
  if (!low)
    return std::nullopt;
  const AffineForm lower = *low;
  const AffineForm *upper = affine(large);
  if (!upper)
    return std::nullopt;
  const auto distance = sum(lower, *upper, -1); // the mask is true where this is negative (or zero)
  if (!distance)
    return std::nullopt;
  std::optional<unsigned> dim;
  for (auto [index, step] : llvm::enumerate(distance->steps)) {
    if (step.isZero())
      continue;
    if (dim || step.constant() != 1)
      return std::nullopt;
    dim = index;
  }
  if (!dim)
    return std::nullopt;
  const bool inclusive = predicate == Predicate::sle || predicate == Predicate::sge;
  auto bound = Polynomial::ofConstant(inclusive).plus(distance->start, -1);
  if (!bound)
    return std::nullopt;
  return PrefixMask{*dim, std::move(*bound), mayWrap(small) || mayWrap(large)};
}

//--- dependence ----------------------------------------------------------------------------

uint32_t AffineInfo::dependence(Value value) {
  if (auto found = dependences.find(value); found != dependences.end())
    return found->second;
  uint32_t bits = analyseDependence(value);
  for (auto [dim, extent] : llvm::enumerate(tt::shapeOf(value.getType())))
    if (extent == 1)
      bits &= ~(1u << dim);
  return dependences[value] = bits;
}

uint32_t AffineInfo::analyseDependence(Value value) {
  const size_t rank = tt::shapeOf(value.getType()).size();
  const uint32_t all = (1u << rank) - 1;
  Operation *op = value.getDefiningOp();
  if (!rank || !op)
    return rank ? all : 0;
  if (isa<tt::SplatOp>(op))
    return 0;
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant.isSplat() ? 0 : all;
  const bool hasEffect = isa<tt::ExternElementwiseOp, tt::ElementwiseInlineAsmOp>(op) && !isMemoryEffectFree(op);
  if (hasEffect || (!isElementwise(op) && !isa<tt::LoadOp>(op) && !isShapeChange(op)))
    return all;
  uint32_t bits = 0;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto map = operandMap(op, index, identityMap(rank));
    if (!map)
      return all;
    const uint32_t inner = isa<RankedTensorType>(operand.getType()) ? dependence(operand) : 0;
    for (auto [dim, target] : llvm::enumerate(*map))
      if (target >= 0 && (inner >> dim & 1))
        bits |= 1u << target;
  }
  return bits;
}
