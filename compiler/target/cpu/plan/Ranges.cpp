// Finds the ranges of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Ranges.h"

#include "compiler/dialect/tt/Combine.h"
#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// What assertions say of every element of a tile.
struct Bounds {
  std::optional<int64_t> low, high;
  void atLeast(int64_t value) { low = std::max(value, low.value_or(value)); }
  void atMost(int64_t value) { high = std::min(value, high.value_or(value)); }
};

class RangeAnalysis {
public:
  RangeAnalysis(AffineInfo &affineInfo, Operation *access) : affineInfo(affineInfo), access(access) {}
  std::optional<RangeExpr> of(Value tile, const IndexMap &map);

private:
  std::optional<RangeExpr> combine(RangeKind kind, Operation *op, const IndexMap &map, ArrayRef<unsigned> operands,
                                   int64_t factor = 1);
  std::optional<RangeExpr> withConstant(RangeKind kind, Operation *op, const IndexMap &map);
  std::optional<RangeExpr> asserted(Value tile);
  bool isAsserted(Value condition, unsigned depth = 0);
  bool selects(Value mask);

  AffineInfo &affineInfo;
  Operation *access;
  unsigned nodes = 0;
};
} // namespace

std::optional<RangeExpr> RangeAnalysis::combine(RangeKind kind, Operation *op, const IndexMap &map,
                                                ArrayRef<unsigned> operands, int64_t factor) {
  RangeExpr range;
  range.kind = kind;
  range.factor = factor;
  for (unsigned index : operands) {
    const IndexMap unknown(tt::shapeOf(op->getOperand(index).getType()).size(), -1);
    std::optional<RangeExpr> operand = of(op->getOperand(index), operandMap(op, index, map).value_or(unknown));
    if (!operand)
      return std::nullopt;
    range.operands.push_back(std::move(*operand));
  }
  return range;
}

std::optional<RangeExpr> RangeAnalysis::withConstant(RangeKind kind, Operation *op, const IndexMap &map) {
  APInt constant;
  unsigned tile = 0;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    if (kind != RangeKind::Product || !matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
      return std::nullopt;
    tile = 1;
  }
  if (!constant.isStrictlyPositive() || !constant.isSignedIntN(32))
    return std::nullopt;
  return combine(kind, op, map, {tile}, constant.getSExtValue());
}

/// The parts of a conjunction.
static SmallVector<Value> conjunctsOf(Value condition) {
  SmallVector<Value> waiting{condition}, parts;
  while (!waiting.empty()) {
    Value part = waiting.pop_back_val();
    if (auto both = part.getDefiningOp<arith::AndIOp>())
      waiting.append({both.getLhs(), both.getRhs()});
    else
      parts.push_back(part);
  }
  return parts;
}

/// Whether the mask holds for all elements that are accessed.
bool RangeAnalysis::selects(Value mask) {
  Value used = cast<tt::MemoryAccessOpInterface>(access).getAccessMask();
  if (!used)
    return false;
  const SmallVector<Value> known = conjunctsOf(used);
  return llvm::all_of(conjunctsOf(mask), [&](Value part) { return llvm::is_contained(known, part); });
}

/// Whether an assertion before the access fails unless the condition holds for all elements that are accessed:
/// `assert(all(condition & others))`, or `assert(all(condition & others | ~mask))`.
bool RangeAnalysis::isAsserted(Value condition, unsigned depth) {
  constexpr unsigned maxDepth = 6;
  return depth < maxDepth && llvm::any_of(condition.getUsers(), [&](Operation *user) {
           if (isa<tt::AssertOp>(user)) {
             Operation *outer = user->getBlock()->findAncestorOpInBlock(*access);
             return outer && user->isBeforeInBlock(outer);
           }
           auto reduce = dyn_cast<tt::ReduceOp>(user);
           if (isa<arith::AndIOp>(user) ||
               (reduce && isa_and_nonnull<arith::AndIOp>(tt::singleCombination(reduce.getCombine().front()))))
             return isAsserted(user->getResult(0), depth + 1);
           if (!isa<arith::OrIOp>(user))
             return false;
           Value other = user->getOperand(user->getOperand(0) == condition ? 1 : 0);
           auto inverse = other.getDefiningOp<arith::XOrIOp>();
           return inverse && matchPattern(inverse.getRhs(), m_One()) && selects(inverse.getLhs()) &&
                  isAsserted(user->getResult(0), depth + 1);
         });
}

static RangeExpr constantRange(int64_t low, int64_t high) {
  RangeExpr range;
  range.kind = RangeKind::Union;
  for (int64_t value : {low, high})
    range.operands.emplace_back().form.base = Poly::constant(value);
  return range;
}

/// The range of a tile of any values between assertions.
std::optional<RangeExpr> RangeAnalysis::asserted(Value tile) {
  Bounds bounds;
  for (Operation *user : tile.getUsers()) {
    auto comparison = dyn_cast<arith::CmpIOp>(user);
    APInt constant;
    if (!comparison || !isAsserted(comparison))
      continue;
    const bool isLeft = matchPattern(comparison.getRhs(), m_ConstantInt(&constant));
    if (!isLeft && !matchPattern(comparison.getLhs(), m_ConstantInt(&constant)))
      continue;
    const int64_t limit = constant.getSExtValue();
    using Predicate = arith::CmpIPredicate;
    switch (comparison.getPredicate()) {
    case Predicate::slt:
      isLeft ? bounds.atMost(limit - 1) : bounds.atLeast(limit + 1);
      break;
    case Predicate::sle:
      isLeft ? bounds.atMost(limit) : bounds.atLeast(limit);
      break;
    case Predicate::sgt:
      isLeft ? bounds.atLeast(limit + 1) : bounds.atMost(limit - 1);
      break;
    case Predicate::sge:
      isLeft ? bounds.atLeast(limit) : bounds.atMost(limit);
      break;
    default:
      break;
    }
  }
  if (!bounds.low || !bounds.high || *bounds.low > *bounds.high)
    return std::nullopt;
  return constantRange(*bounds.low, *bounds.high);
}

std::optional<RangeExpr> RangeAnalysis::of(Value tile, const IndexMap &map) {
  constexpr unsigned maxNodes = 48;
  if (++nodes > maxNodes)
    return std::nullopt;
  if (const AffineForm *form = affineInfo.affine(tile)) {
    RangeExpr range;
    range.form = *form;
    range.shape.assign(tt::shapeOf(tile.getType()).begin(), tt::shapeOf(tile.getType()).end());
    range.map = map;
    return range;
  }
  if (std::optional<RangeExpr> range = asserted(tile))
    return range;
  Operation *op = tile.getDefiningOp();
  const Type element = tt::elementOf(tile.getType());
  if (!op || !(isa<IndexType, tt::PointerType>(element) || element.isInteger(32) || element.isInteger(64)))
    return std::nullopt;
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    Type pointee = cast<tt::PointerType>(tt::elementOf(add.getType())).getPointee();
    return combine(RangeKind::Sum, op, map, {0, 1}, static_cast<int64_t>(storageBytes(pointee)));
  }
  if (isa<arith::AddIOp>(op))
    return combine(RangeKind::Sum, op, map, {0, 1});
  if (isa<arith::SubIOp>(op))
    return combine(RangeKind::Difference, op, map, {0, 1});
  if (isa<arith::MulIOp>(op))
    return withConstant(RangeKind::Product, op, map);
  if (isa<arith::DivSIOp>(op))
    return withConstant(RangeKind::Quotient, op, map);
  if (isa<arith::RemSIOp>(op))
    return withConstant(RangeKind::Remainder, op, map);
  if (isa<arith::MinSIOp>(op))
    return combine(RangeKind::Minimum, op, map, {0, 1});
  if (isa<arith::MaxSIOp>(op))
    return combine(RangeKind::Maximum, op, map, {0, 1});
  if (isa<arith::SelectOp>(op))
    return combine(RangeKind::Union, op, map, {1, 2});
  const bool isSame = isa<arith::ExtSIOp, arith::IndexCastOp, tt::BitcastOp, tt::ExpandDimsOp, tt::BroadcastOp,
                          tt::TransOp, tt::ReshapeOp, tt::SplatOp>(op);
  return isSame ? combine(RangeKind::Union, op, map, {0}) : std::nullopt;
}

std::optional<RangeExpr> cpu::addressRange(AffineInfo &affineInfo, Operation *access) {
  Value pointer = cast<tt::MemoryAccessOpInterface>(access).getAccessedPointer();
  return RangeAnalysis(affineInfo, access).of(pointer, identityMap(tt::shapeOf(pointer.getType()).size()));
}

bool cpu::allScalars(const RangeExpr &range, AffineInfo &affineInfo, llvm::function_ref<bool(Value)> predicate) {
  auto holds = [&](const Poly &poly) {
    return llvm::all_of(poly.terms(), [&](const Poly::Term &term) {
      return llvm::all_of(term.factors, [&](SymbolId symbol) { return predicate(affineInfo.valueOf(symbol)); });
    });
  };
  if (range.kind == RangeKind::Affine)
    return (!range.form.pointer || predicate(range.form.pointer)) && holds(range.form.base) &&
           llvm::all_of(range.form.strides, holds);
  return llvm::all_of(range.operands,
                      [&](const RangeExpr &operand) { return allScalars(operand, affineInfo, predicate); });
}
