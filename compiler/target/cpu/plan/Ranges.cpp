// Finds the ranges of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Ranges.h"

#include "compiler/dialect/tt/Combine.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/index/IntegerRange.h"
#include "compiler/target/cpu/plan/Masks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class RangeAnalysis {
public:
  RangeAnalysis(AffineInfo &affineInfo, Operation *access) : affineInfo(affineInfo), access(access) {}
  /// An exact range holds also where operations on the way wrap around in 64 bits or are extended after they have.
  std::optional<RangeExpr> of(Value tile, const IndexMap &map, bool isExact = false);

private:
  std::optional<RangeExpr> wrapped(Value tile, const IndexMap &map);
  std::optional<RangeExpr> combine(RangeKind kind, Operation *op, const IndexMap &map, ArrayRef<unsigned> operands,
                                   bool isExact, int64_t factor = 1);
  std::optional<RangeExpr> withConstant(RangeKind kind, Operation *op, const IndexMap &map, bool isExact);
  std::optional<RangeExpr> leaf(Value tile, const IndexMap &map);
  std::optional<RangeExpr> asserted(Value tile, const IndexMap &map);
  bool isAsserted(Value condition, bool isAtIndex, unsigned depth = 0);
  bool selects(Value mask);

  AffineInfo &affineInfo;
  Operation *access;
  unsigned nodes = 0;
};
} // namespace

/// The index of an operand's element, unknown where it is not formed from those of the result.
static IndexMap mapOf(Operation *op, unsigned operand, const IndexMap &map) {
  const IndexMap unknown(tt::shapeOf(op->getOperand(operand).getType()).size(), -1);
  return operandMap(op, operand, map).value_or(unknown);
}

/// The range of the values that an operation gets: those that the operand wraps around to.
std::optional<RangeExpr> RangeAnalysis::wrapped(Value tile, const IndexMap &map) {
  constexpr unsigned mostBits = 62;
  std::optional<RangeExpr> range = of(tile, map, /*isExact=*/true);
  if (!range || !tt::elementOf(tile.getType()).isInteger(32))
    return range && range->bits <= mostBits ? range : std::nullopt;
  if (range->bits > mostBits) // the ends themselves would wrap around
    return std::nullopt;
  RangeExpr result;
  result.kind = RangeKind::Wrapped;
  result.bits = 32;
  result.operands.push_back(std::move(*range));
  return result;
}

static unsigned bitsOfResult(const RangeExpr &range) {
  unsigned most = 0;
  for (const RangeExpr &operand : range.operands)
    most = std::max(most, operand.bits);
  const unsigned ofFactor = llvm::Log2_64_Ceil(static_cast<uint64_t>(range.factor)) + 1;
  switch (range.kind) {
  case RangeKind::Sum:
  case RangeKind::Difference:
    return most + (range.factor == 1 ? 1 : ofFactor);
  case RangeKind::Product:
    return most + ofFactor;
  case RangeKind::Remainder:
    return ofFactor;
  default:
    return most;
  }
}

std::optional<RangeExpr> RangeAnalysis::combine(RangeKind kind, Operation *op, const IndexMap &map,
                                                ArrayRef<unsigned> operands, bool isExact, int64_t factor) {
  const bool isRing = kind == RangeKind::Sum || kind == RangeKind::Difference || kind == RangeKind::Product;
  RangeExpr range;
  range.kind = kind;
  range.factor = factor;
  for (unsigned index : operands) {
    const IndexMap inner = mapOf(op, index, map);
    std::optional<RangeExpr> operand =
        isRing ? of(op->getOperand(index), inner, isExact) : wrapped(op->getOperand(index), inner);
    if (!operand)
      return std::nullopt;
    range.operands.push_back(std::move(*operand));
  }
  range.bits = bitsOfResult(range);
  return range;
}

std::optional<RangeExpr> RangeAnalysis::withConstant(RangeKind kind, Operation *op, const IndexMap &map, bool isExact) {
  APInt constant;
  unsigned tile = 0;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    if (kind != RangeKind::Product || !matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
      return std::nullopt;
    tile = 1;
  }
  if (!constant.isStrictlyPositive() || !constant.isSignedIntN(32))
    return std::nullopt;
  return combine(kind, op, map, {tile}, isExact, constant.getSExtValue());
}

/// Whether the mask holds for all elements that are accessed.
bool RangeAnalysis::selects(Value mask) {
  auto partsOf = [&](Value whole) {
    return conjuncts(affineInfo, whole, identityMap(tt::shapeOf(whole.getType()).size()));
  };
  Value used = cast<tt::MemoryAccessOpInterface>(access).getAccessMask();
  if (!used || used.getType() != mask.getType())
    return false;
  const SmallVector<Conjunct, 4> known = partsOf(used);
  return llvm::all_of(partsOf(mask), [&](const Conjunct &part) {
    return llvm::any_of(known,
                        [&](const Conjunct &other) { return other.value == part.value && other.map == part.map; });
  });
}

/// Whether an assertion before the access fails unless the condition holds for all elements that are accessed:
/// `assert(all(condition & others))`, or `assert(all(condition & others | ~mask))` where the tile is read at the index
/// of the access.
bool RangeAnalysis::isAsserted(Value condition, bool isAtIndex, unsigned depth) {
  constexpr unsigned maxDepth = 6;
  return depth < maxDepth &&
         llvm::any_of(
             condition.getUsers(),
             [&](Operation *user) {
               if (isa<tt::AssertOp>(user)) {
                 Operation *outer = user->getBlock()->findAncestorOpInBlock(*access);
                 return outer && user->isBeforeInBlock(outer);
               }
               auto reduce = dyn_cast<tt::ReduceOp>(user);
               if (isa<arith::AndIOp>(user) ||
                   (reduce && isa_and_nonnull<arith::AndIOp>(tt::singleCombination(reduce.getCombine().front()))))
                 return isAsserted(user->getResult(0), isAtIndex, depth + 1);
               if (!isa<arith::OrIOp>(user))
                 return false;
               Value other = user->getOperand(user->getOperand(0) == condition ? 1 : 0);
               auto inverse = other.getDefiningOp<arith::XOrIOp>();
               return isAtIndex && inverse && matchPattern(inverse.getRhs(), m_One()) && selects(inverse.getLhs()) &&
                      isAsserted(user->getResult(0), isAtIndex, depth + 1);
             });
}

static RangeExpr constantRange(index::IntegerRange ends) {
  RangeExpr range;
  range.kind = RangeKind::Union;
  range.bits = llvm::Log2_64_Ceil(static_cast<uint64_t>(std::max(std::abs(ends.low), std::abs(ends.high))) + 1) + 1;
  for (int64_t value : {ends.low, ends.high})
    range.operands.emplace_back().form.start = Polynomial::ofConstant(value);
  return range;
}

/// The predicate by which b compares with a as a does with b.
static arith::CmpIPredicate withSidesExchanged(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  default:
    return predicate;
  }
}

/// The range of a tile of any values between assertions.
std::optional<RangeExpr> RangeAnalysis::asserted(Value tile, const IndexMap &map) {
  Value pointer = cast<tt::MemoryAccessOpInterface>(access).getAccessedPointer();
  const bool isAtIndex =
      map == identityMap(map.size()) && tt::shapeOf(tile.getType()) == tt::shapeOf(pointer.getType());
  index::IntegerRange range;
  for (Operation *user : tile.getUsers()) {
    auto comparison = dyn_cast<arith::CmpIOp>(user);
    APInt limit;
    if (!comparison || !isAsserted(comparison, isAtIndex))
      continue;
    if (matchPattern(comparison.getRhs(), m_ConstantInt(&limit)))
      range = range.where(comparison.getPredicate(), limit.getSExtValue());
    else if (matchPattern(comparison.getLhs(), m_ConstantInt(&limit)))
      range = range.where(withSidesExchanged(comparison.getPredicate()), limit.getSExtValue());
  }
  const index::IntegerRange any;
  return range.low > any.low && range.high < any.high ? std::optional(constantRange(range)) : std::nullopt;
}

/// The bits that an affine tile's elements need at most, computed without wrapping around.
static unsigned bitsOf(AffineInfo &affineInfo, const AffineForm &form, ArrayRef<int64_t> shape) {
  auto bitsOfPoly = [&](const Polynomial &poly, int64_t factor) {
    unsigned most = 1;
    for (const Polynomial::Term &term : poly.terms()) {
      unsigned bits = llvm::Log2_64_Ceil(static_cast<uint64_t>(std::abs(term.coefficient))) + 1 +
                      llvm::Log2_64_Ceil(static_cast<uint64_t>(factor));
      for (unsigned variable : term.factors) {
        Type type = affineInfo.valueOf(variable).getType();
        bits += type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
      }
      most = std::max(most, bits);
    }
    return most + llvm::Log2_64_Ceil(poly.terms().size() + 1);
  };
  unsigned most = bitsOfPoly(form.start, 1);
  for (auto [stride, extent] : llvm::zip_equal(form.steps, shape))
    most = std::max(most, bitsOfPoly(stride, extent));
  return most + shape.size();
}

/// The range of an affine tile.
std::optional<RangeExpr> RangeAnalysis::leaf(Value tile, const IndexMap &map) {
  const AffineForm *form = affineInfo.affine(tile);
  if (!form)
    return std::nullopt;
  RangeExpr range;
  range.form = *form;
  range.shape.assign(tt::shapeOf(tile.getType()).begin(), tt::shapeOf(tile.getType()).end());
  range.map = map;
  range.bits = bitsOf(affineInfo, range.form, range.shape);
  return range;
}

std::optional<RangeExpr> RangeAnalysis::of(Value tile, const IndexMap &map, bool isExact) {
  constexpr unsigned maxNodes = 48;
  if (++nodes > maxNodes)
    return std::nullopt;
  Operation *op = tile.getDefiningOp();
  const Type element = tt::elementOf(tile.getType());
  // The affine form of 64 bits does not show where 32 were extended.
  const bool isSource = !op || isa<tt::SplatOp, tt::MakeRangeOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
  if (!isExact || element.isInteger(32) || isSource)
    if (std::optional<RangeExpr> range = leaf(tile, map))
      return range;
  if (std::optional<RangeExpr> range = asserted(tile, map))
    return range;
  if (!op || !(isa<IndexType, tt::PointerType>(element) || element.isInteger(32) || element.isInteger(64)))
    return std::nullopt;
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    return combine(RangeKind::Sum, op, map, {0, 1}, isExact, bytesOfPointee(add.getResult()));
  }
  if (isa<arith::AddIOp>(op))
    return combine(RangeKind::Sum, op, map, {0, 1}, isExact);
  if (isa<arith::SubIOp>(op))
    return combine(RangeKind::Difference, op, map, {0, 1}, isExact);
  if (isa<arith::MulIOp>(op))
    return withConstant(RangeKind::Product, op, map, isExact);
  if (isa<arith::DivSIOp>(op))
    return withConstant(RangeKind::Quotient, op, map, isExact);
  if (isa<arith::RemSIOp>(op))
    return withConstant(RangeKind::Remainder, op, map, isExact);
  if (isa<arith::MinSIOp>(op))
    return combine(RangeKind::Minimum, op, map, {0, 1}, isExact);
  if (isa<arith::MaxSIOp>(op))
    return combine(RangeKind::Maximum, op, map, {0, 1}, isExact);
  if (isa<arith::SelectOp>(op))
    return isa<tt::PointerType>(element) ? std::nullopt : combine(RangeKind::Union, op, map, {1, 2}, isExact);
  if (isa<arith::ExtSIOp>(op))
    return isExact ? wrapped(op->getOperand(0), mapOf(op, 0, map)) : of(op->getOperand(0), mapOf(op, 0, map), isExact);
  const bool isSame = isa<arith::IndexCastOp, tt::BitcastOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp,
                          tt::ReshapeOp, tt::SplatOp>(op);
  return isSame ? of(op->getOperand(0), mapOf(op, 0, map), isExact) : std::nullopt;
}

std::optional<RangeExpr> cpu::addressRange(AffineInfo &affineInfo, Operation *access) {
  Value pointer = cast<tt::MemoryAccessOpInterface>(access).getAccessedPointer();
  return RangeAnalysis(affineInfo, access).of(pointer, identityMap(tt::shapeOf(pointer.getType()).size()));
}

bool cpu::allScalars(const RangeExpr &range, AffineInfo &affineInfo, llvm::function_ref<bool(Value)> predicate) {
  auto holds = [&](const Polynomial &poly) { return affineInfo.allScalars(poly, predicate); };
  if (range.kind == RangeKind::Affine)
    return (!range.form.base || predicate(range.form.base)) && holds(range.form.start) &&
           llvm::all_of(range.form.steps, holds);
  return llvm::all_of(range.operands,
                      [&](const RangeExpr &operand) { return allScalars(operand, affineInfo, predicate); });
}
