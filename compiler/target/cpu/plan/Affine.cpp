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
  return form.strides[dim].asConstant() == bytesOfPointee(pointer);
}

//--- polynomials ---------------------------------------------------------------------------

static int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
static int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

Poly Poly::constant(int64_t value) {
  Poly result;
  result.add({{}, value});
  return result;
}

Poly Poly::symbol(SymbolId symbol) {
  Poly result;
  result.add({{symbol}, 1});
  return result;
}

void Poly::add(Term term) {
  if (term.coefficient == 0)
    return;
  auto place = llvm::lower_bound(list, term, [](const Term &a, const Term &b) { return a.factors < b.factors; });
  if (place == list.end() || place->factors != term.factors) {
    list.insert(place, std::move(term));
    return;
  }
  place->coefficient = wrapAdd(place->coefficient, term.coefficient);
  if (place->coefficient == 0)
    list.erase(place);
}

Poly Poly::plus(const Poly &other, int64_t factor) const {
  Poly result = *this;
  for (Term term : other.list) {
    term.coefficient = wrapMul(term.coefficient, factor);
    result.add(std::move(term));
  }
  return result;
}

Poly Poly::operator*(const Poly &other) const {
  Poly result;
  for (const Term &a : list)
    for (const Term &b : other.list) {
      Term product{a.factors, wrapMul(a.coefficient, b.coefficient)};
      product.factors.append(b.factors);
      llvm::sort(product.factors);
      result.add(std::move(product));
    }
  return result;
}

std::optional<int64_t> Poly::asConstant() const {
  if (list.empty())
    return 0;
  if (list.size() == 1 && list.front().factors.empty())
    return list.front().coefficient;
  return std::nullopt;
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

SymbolId AffineInfo::symbolOf(Value scalar) {
  auto [entry, isNew] = symbolIds.try_emplace(scalar, symbols.size());
  if (isNew)
    symbols.push_back(scalar);
  return entry->second;
}

const AffineForm *AffineInfo::assumed(Value value) {
  if (auto found = forms.find(value); found != forms.end())
    return found->second ? &*found->second : nullptr;
  std::optional<AffineForm> form = analyse(value);
  if (form)
    for (auto [stride, extent] : llvm::zip_equal(form->strides, tt::shapeOf(value.getType())))
      if (extent == 1)
        stride = {};
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
    return AffineForm{{}, Poly::constant(splat.getSExtValue()), SmallVector<Poly, 2>(rank), {}};
  if (!isa<RankedTensorType>(value.getType())) {
    if (isPointer)
      return AffineForm{value, {}, {}, {}};
    if (auto extended = value.getDefiningOp<arith::ExtSIOp>(); extended && isIndexLike(extended.getIn().getType()))
      return AffineForm{{}, Poly::symbol(symbolOf(extended.getIn())), {}, {}};
    return AffineForm{{}, Poly::symbol(symbolOf(value)), {}, {}};
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
  Remainder remainder{form.base, divisor->base, 1};
  for (auto [stride, extent] : llvm::zip_equal(form.strides, tt::shapeOf(op->getResult(0).getType()))) {
    if (stride.isZero())
      continue;
    if (stride.asConstant() != 1 || remainder.extent != 1)
      return std::nullopt;
    remainder.extent = extent;
  }
  const SymbolId symbol = symbolOf(op->getResult(0));
  remainders[symbol] = std::move(remainder);
  form.base = Poly::symbol(symbol);
  form.assumptions = {symbol};
  return form;
}

std::optional<AffineForm> AffineInfo::analyseShape(Operation *op) {
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return AffineForm{{}, Poly::constant(static_cast<int32_t>(range.getStart())), {Poly::constant(1)}, {}};
  if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    const AffineForm *scalar = assumed(splat.getSrc());
    if (!scalar)
      return std::nullopt;
    AffineForm form = *scalar;
    form.strides.resize(tt::shapeOf(splat.getType()).size());
    return form;
  }
  if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op))
    return std::nullopt;
  const AffineForm *source = assumed(op->getOperand(0));
  const size_t rank = tt::shapeOf(op->getResult(0).getType()).size();
  auto map = operandMap(op, 0, identityMap(rank));
  if (!source || !map)
    return std::nullopt;
  AffineForm form{source->pointer, source->base, SmallVector<Poly, 2>(rank), source->assumptions};
  for (auto [dim, target] : llvm::enumerate(*map))
    if (target >= 0)
      form.strides[target] = source->strides[dim];
  return form;
}

static AffineForm combine(const AffineForm &a, const AffineForm &b, int64_t factor) {
  AffineForm form{a.pointer, a.base + b.base * Poly::constant(factor), a.strides, a.assumptions};
  for (SymbolId symbol : b.assumptions)
    if (!llvm::is_contained(form.assumptions, symbol))
      form.assumptions.push_back(symbol);
  for (auto [stride, other] : llvm::zip_equal(form.strides, b.strides))
    stride = stride + other * Poly::constant(factor);
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
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    return combine(a, *b, bytesOfPointee(add.getResult()));
  }
  if (!isa<arith::MulIOp>(op))
    return combine(a, *b, isa<arith::SubIOp>(op) ? -1 : 1);
  if (!a.isUniform() && !b->isUniform())
    return std::nullopt;
  const AffineForm &tile = a.isUniform() ? *b : a;
  const Poly &factor = a.isUniform() ? a.base : b->base;
  if (!a.assumptions.empty() && !b->assumptions.empty())
    return std::nullopt;
  AffineForm form{{}, tile.base * factor, {}, a.assumptions.empty() ? b->assumptions : a.assumptions};
  for (const Poly &stride : tile.strides)
    form.strides.push_back(stride * factor);
  return form;
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

/// a - b, where it is a constant.
static std::optional<int64_t> checkedDifference(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

static int64_t constantTerm(const Poly &poly) {
  return poly.terms().empty() || !poly.terms().front().factors.empty() ? 0 : poly.terms().front().coefficient;
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
  const AffineForm distance = combine(lower, *upper, -1); // the mask is true where this is negative (or zero)
  std::optional<unsigned> dim;
  for (auto [index, stride] : llvm::enumerate(distance.strides)) {
    if (stride.isZero())
      continue;
    if (dim || stride.asConstant() != 1)
      return std::nullopt;
    dim = index;
  }
  if (!dim)
    return std::nullopt;
  const bool inclusive = predicate == Predicate::sle || predicate == Predicate::sge;
  const auto constant = checkedDifference(constantTerm(lower.base), constantTerm(affine(large)->base));
  if (!constant || !checkedDifference(inclusive, *constant))
    return std::nullopt;
  return PrefixMask{*dim, Poly::constant(inclusive) - distance.base, mayWrap(small) || mayWrap(large)};
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
