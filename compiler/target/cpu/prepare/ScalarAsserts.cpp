// Replaces assertions on tiles by assertions on scalars.
// SPDX-License-Identifier: MIT
//
//   assert(splat(%base) + range(0, 1024) <= %limit)   ->   assert(%base + 1023 <= %limit)
//   assert(%tile)                                     ->   assert(reduce(%tile, and))
//
// In debug mode each addition and multiplication of 32-bit integers is asserted not to overflow. Most are parts of
// addresses, whose extremes follow from scalars. Extremes take the place of a tile only where both hold for the same
// inputs: they are elements of the tile, and no operation on the way to them wraps around. Other tiles are reduced as
// they are computed, so that no buffer holds them.
#include "compiler/target/cpu/prepare/Passes.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/DenseSet.h"

#include <limits>
#include <utility>

namespace nereid::cpu {
#define GEN_PASS_DEF_SCALARASSERTS
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// The smallest and the largest element of an integer tile, in 64 bits; both are elements of it.
struct Extremes {
  Value low, high;
  uint32_t dims = 0;  ///< the dimensions that the elements depend on, as a bit set
  unsigned bits = 64; ///< that the elements need at most
};

/// A value, or null and a constant.
using Operand = std::pair<Value, int64_t>;
/// The kind and the operands of a 32-bit operation that has been asserted not to wrap around.
using Checked = std::tuple<TypeID, Operand, Operand>;
using CheckedSet = llvm::DenseSet<Checked>;

class AssertSimplifier {
public:
  AssertSimplifier(tt::AssertOp assertion, const CheckedSet &checked)
      : builder(assertion), loc(assertion.getLoc()), checked(checked) {}

  Value holds(Value condition);

private:
  std::optional<Extremes> of(Value value, unsigned depth = 0);
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(builder, loc, predicate, left, right);
  }
  std::optional<Extremes> scalar(Value value);
  std::optional<Extremes> sum(Operation *op, unsigned depth);
  std::optional<Extremes> product(Operation *op, unsigned depth);
  std::optional<Extremes> quotient(arith::DivSIOp op, unsigned depth);
  bool isExact(Operation *op, unsigned bits);

  OpBuilder builder;
  Location loc;
  const CheckedSet &checked;
};
} // namespace

/// An operand, before it was extended to 64 bits; nullopt where it had more than 32.
static std::optional<Operand> narrowOperand(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Operand{Value(), constant.getSExtValue()};
  if (auto extension = value.getDefiningOp<arith::ExtSIOp>())
    value = extension.getIn();
  return tt::elementOf(value.getType()).isInteger(32) ? std::optional(Operand{value, 0}) : std::nullopt;
}

static std::optional<Checked> asChecked(Operation *op) {
  const auto left = narrowOperand(op->getOperand(0)), right = narrowOperand(op->getOperand(1));
  return left && right ? std::optional(Checked{op->getName().getTypeID(), *left, *right}) : std::nullopt;
}

std::optional<Extremes> AssertSimplifier::scalar(Value value) {
  Type type = value.getType();
  if (!type.isInteger(32) && !type.isInteger(64))
    return std::nullopt;
  const unsigned bits = type.getIntOrFloatBitWidth();
  Value wide = bits == 64 ? value : arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value).getResult();
  return Extremes{wide, wide, 0, bits};
}

/// Whether the operation does not wrap around: in 64 bits where its operands are narrow, in 32 where that is asserted.
bool AssertSimplifier::isExact(Operation *op, unsigned bits) {
  constexpr unsigned mostBits = 62;
  if (tt::elementOf(op->getResult(0).getType()).isInteger(64))
    return bits <= mostBits;
  const std::optional<Checked> key = asChecked(op);
  return key && checked.contains(*key);
}

std::optional<Extremes> AssertSimplifier::sum(Operation *op, unsigned depth) {
  const auto a = of(op->getOperand(0), depth), b = a ? of(op->getOperand(1), depth) : std::nullopt;
  if (!b || (a->dims & b->dims)) // extremes along one dimension need not be at one place
    return std::nullopt;
  const unsigned bits = std::max(a->bits, b->bits) + 1;
  if (!isExact(op, bits))
    return std::nullopt;
  auto make = [&](Value left, Value right) -> Value {
    if (isa<arith::AddIOp>(op))
      return arith::AddIOp::create(builder, loc, left, right);
    return arith::SubIOp::create(builder, loc, left, right);
  };
  const bool isSum = isa<arith::AddIOp>(op);
  return Extremes{make(a->low, isSum ? b->low : b->high), make(a->high, isSum ? b->high : b->low), a->dims | b->dims,
                  tt::elementOf(op->getResult(0).getType()).isInteger(32) ? 32 : bits};
}

std::optional<Extremes> AssertSimplifier::product(Operation *op, unsigned depth) {
  auto a = of(op->getOperand(0), depth), b = a ? of(op->getOperand(1), depth) : std::nullopt;
  if (!b || (a->dims && b->dims) || !isExact(op, a->bits + b->bits))
    return std::nullopt;
  if (b->dims)
    std::swap(a, b);
  Value first = arith::MulIOp::create(builder, loc, a->low, b->low);
  Value last = arith::MulIOp::create(builder, loc, a->high, b->low);
  return Extremes{arith::MinSIOp::create(builder, loc, first, last), arith::MaxSIOp::create(builder, loc, first, last),
                  a->dims, tt::elementOf(op->getResult(0).getType()).isInteger(32) ? 32 : a->bits + b->bits};
}

/// A quotient by a constant above 0 grows with the dividend.
std::optional<Extremes> AssertSimplifier::quotient(arith::DivSIOp op, unsigned depth) {
  APInt divisor;
  auto a = of(op.getLhs(), depth);
  if (!a || !matchPattern(op.getRhs(), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive())
    return std::nullopt;
  Value by = constant(divisor.getSExtValue());
  a->low = arith::DivSIOp::create(builder, loc, a->low, by);
  a->high = arith::DivSIOp::create(builder, loc, a->high, by);
  return a;
}

/// The dimensions of a result that those of the operand become; nullopt where it lacks elements along one of them.
static std::optional<uint32_t> dimsOfResult(Operation *op, uint32_t dims) {
  ArrayRef<int64_t> shape = tt::shapeOf(op->getOperand(0).getType());
  uint32_t result = 0;
  for (auto [dim, index] : llvm::enumerate(*tt::elementMapOf(op, 0))) {
    if (index.kind == tt::ElementIndex::Kind::ResultDim)
      result |= (dims >> dim & 1) << index.number;
    else if (shape[dim] != 1)
      return std::nullopt;
  }
  return result;
}

std::optional<Extremes> AssertSimplifier::of(Value value, unsigned depth) {
  constexpr unsigned maxDepth = 12;
  if (++depth > maxDepth)
    return std::nullopt;
  APInt splat;
  if (matchPattern(value, m_ConstantInt(&splat)) && splat.getBitWidth() <= 64) {
    Value number = constant(splat.getSExtValue());
    return Extremes{number, number, 0, splat.getSignificantBits()};
  }
  if (!isa<RankedTensorType>(value.getType()))
    return scalar(value);
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    const auto start = static_cast<int32_t>(range.getStart()), end = static_cast<int32_t>(range.getEnd());
    return Extremes{constant(start), constant(int64_t(end) - 1), 1, 32};
  }
  if (isa<tt::ElementMapOpInterface, arith::ExtSIOp>(op) && op->getNumOperands() == 1) {
    auto inner = of(op->getOperand(0), depth);
    const auto dims = inner ? dimsOfResult(op, inner->dims) : std::nullopt;
    if (!dims)
      return std::nullopt;
    inner->dims = *dims;
    return inner;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return sum(op, depth);
  if (isa<arith::MulIOp>(op))
    return product(op, depth);
  if (auto division = dyn_cast<arith::DivSIOp>(op))
    return quotient(division, depth);
  return std::nullopt;
}

/// A scalar that is true where every element of the condition is; null where no such scalar is known.
Value AssertSimplifier::holds(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    Value left = holds(both.getLhs()), right = left ? holds(both.getRhs()) : Value();
    return right ? arith::AndIOp::create(builder, loc, left, right).getResult() : Value();
  }
  auto comparison = condition.getDefiningOp<arith::CmpIOp>();
  if (!comparison || !isa<IntegerType>(tt::elementOf(comparison.getLhs().getType())))
    return {};
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = comparison.getPredicate();
  const bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  if (!isLess && predicate != Predicate::sgt && predicate != Predicate::sge)
    return {};
  const auto left = of(comparison.getLhs()), right = left ? of(comparison.getRhs()) : std::nullopt;
  if (!right || (left->dims & right->dims))
    return {};
  return isLess ? compare(predicate, left->high, right->low) : compare(predicate, left->low, right->high);
}

/// The 32-bit operation that a condition asserts not to wrap around: `ext(a) op ext(b)` is within 32 bits.
static std::optional<Checked> checkedBy(Value condition) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  auto low = both ? both.getLhs().getDefiningOp<arith::CmpIOp>() : nullptr;
  auto high = both ? both.getRhs().getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!low || !high || low.getLhs() != high.getLhs() || low.getPredicate() != arith::CmpIPredicate::sge ||
      high.getPredicate() != arith::CmpIPredicate::sle)
    return std::nullopt;
  APInt least, most;
  if (!matchPattern(low.getRhs(), m_ConstantInt(&least)) || !matchPattern(high.getRhs(), m_ConstantInt(&most)) ||
      least.getBitWidth() != 64 || least.getSExtValue() != std::numeric_limits<int32_t>::min() ||
      most.getSExtValue() != std::numeric_limits<int32_t>::max())
    return std::nullopt;
  Operation *op = low.getLhs().getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  return asChecked(op);
}

/// Whether every element of the condition holds.
static Value allOf(OpBuilder &builder, Location loc, Value condition) {
  while (auto tile = dyn_cast<RankedTensorType>(condition.getType())) {
    const int64_t axis = tile.getRank() - 1;
    const ArrayRef<int64_t> outer = tile.getShape().drop_back();
    const Type result = outer.empty() ? tile.getElementType() : RankedTensorType::get(outer, tile.getElementType());
    auto reduce =
        tt::ReduceOp::create(builder, loc, TypeRange{result}, ValueRange{condition}, static_cast<uint32_t>(axis));
    const OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&reduce.getCombine(), {}, {builder.getI1Type(), builder.getI1Type()}, {loc, loc});
    Value both = arith::AndIOp::create(builder, loc, body->getArgument(0), body->getArgument(1));
    tt::ReduceReturnOp::create(builder, loc, both);
    condition = reduce.getResults().front();
  }
  return condition;
}

namespace {
struct ScalarAsserts : cpu::impl::ScalarAssertsBase<ScalarAsserts> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) {
      CheckedSet checked;
      for (tt::AssertOp assertion : llvm::make_early_inc_range(block->getOps<tt::AssertOp>())) {
        Value condition = assertion.getCondition();
        if (isa<RankedTensorType>(condition.getType())) {
          Value scalar = AssertSimplifier(assertion, checked).holds(condition);
          OpBuilder builder(assertion);
          assertion.getConditionMutable().assign(scalar ? scalar : allOf(builder, assertion.getLoc(), condition));
        }
        if (auto operation = checkedBy(condition))
          checked.insert(*operation);
      }
    });
  }
};
} // namespace
