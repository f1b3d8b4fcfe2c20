// Computes the bounds of loops that run at run time.
// SPDX-License-Identifier: MIT
//
// range(first, end, step) has as many iterations as in Python, whatever the sign of a step known only at run time:
//   distance = step < 0 ? first - end : end - first      as unsigned, 0 where the range is empty
//   count    = (distance - 1) / |step| + 1
// No intermediate value overflows, neither at the limits of the type nor for the smallest integer as the step. A step
// of 0 gives no iteration.
#include "compiler/sema/LoopBounds.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"

#include "compiler/dialect/imported/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace nereid;
using namespace nereid::sema;
namespace arith = mlir::arith;

/// Whether a number is above the largest of a signed type, so that it would be read as a negative one.
static bool isAbove(const Value &bound, Scalar type) {
  const llvm::DynamicAPInt *number = bound.integer();
  return number && isSignedInteger(type) && bitsOf(type) < 64 && *number >= (int64_t{1} << (bitsOf(type) - 1));
}

/// The three bounds as integer scalars, and the type that the loop runs in. False after an error.
bool TtFunctionEmitter::readBounds(const RangeValue &range, SourceRange where, Value (&bounds)[3], Scalar &type) {
  const Value *operands[3] = {&range.begin, &range.end, &range.step};
  static constexpr llvm::StringLiteral names[3] = {"lower bound", "upper bound", "step"};
  type = Scalar::Int32;
  bool first = true;
  for (int i = 0; i < 3; ++i) {
    if (operands[i]->isPoison())
      return false;
    const TensorValue *tensor = operands[i]->tensor();
    if (!(tensor ? tensor->type.isInt() : operands[i]->is<bool>() || operands[i]->integer())) {
      error(diag::LoopBoundNotInt, where, names[i], describe(*operands[i]),
            operands[i]->is<double>() || (tensor && tensor->type.isFloat()) ? "; `/` gives a float, `//` an int" : "");
      return false;
    }
    if (tensor && tensor->type.isTile()) {
      error(diag::LoopBoundNotScalar, where, names[i], tensor->type.str());
      return false;
    }
    bounds[i] = toTensor(*operands[i], where);
    if (bounds[i].isPoison())
      return false;
    // A Python number adapts to the tensors; only its width counts.
    const Scalar own = bounds[i].tensor()->type.scalar;
    if (!tensor) {
      if (bitsOf(own) > bitsOf(type))
        type = integerOf(bitsOf(own), !isUnsignedInteger(type) || first);
      continue;
    }
    if (bitsOf(own) > bitsOf(type) || (bitsOf(own) == bitsOf(type) && isUnsignedInteger(own)))
      type = own;
    first = false;
  }
  if (llvm::any_of(operands, [&](const Value *bound) { return isAbove(*bound, type); }))
    type = Scalar::Int64;
  return true;
}

/// Whether the bound may be below zero: a number adapts to the other bounds, and has a sign only where it is negative.
static bool hasSign(const Value &bound) {
  if (const TensorValue *tensor = bound.tensor())
    return isSignedInteger(tensor->type.scalar);
  const llvm::DynamicAPInt *number = bound.integer();
  return number && *number < 0;
}

//--- The step's sign -----------------------------------------------------------------------

static bool isPositiveNumber(mlir::Value value) {
  llvm::APInt number;
  return mlir::matchPattern(value, mlir::m_ConstantInt(&number)) && number.isStrictlyPositive();
}

/// Whether `op` runs before every op that `builder` makes: it precedes its position, or an op around that.
static bool runsBefore(mlir::Operation *op, const mlir::OpBuilder &builder) {
  mlir::Block *block = builder.getInsertionBlock();
  const mlir::Block::iterator at = builder.getInsertionPoint();
  mlir::Operation *next = at == block->end() ? nullptr : &*at;
  while (block && block != op->getBlock()) {
    next = block->getParentOp();
    block = next ? next->getBlock() : nullptr;
  }
  return block && (!next || op->isBeforeInBlock(next));
}

/// Whether the kernel's author says so, on every path to here: `tl.assume(step > 0)`.
static bool isAssumedPositive(mlir::Value value, const mlir::OpBuilder &builder) {
  auto isAbove = [&](mlir::arith::CmpIOp test) {
    llvm::APInt number;
    if (test.getLhs() != value || !mlir::matchPattern(test.getRhs(), mlir::m_ConstantInt(&number)))
      return false;
    const auto predicate = test.getPredicate();
    return (predicate == arith::CmpIPredicate::sgt && number.isNonNegative()) ||
           (predicate == arith::CmpIPredicate::sge && number.isStrictlyPositive());
  };
  return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
    auto test = llvm::dyn_cast<arith::CmpIOp>(user);
    return test && isAbove(test) && llvm::any_of(test->getUsers(), [&](mlir::Operation *use) {
             return llvm::isa<imported::AssumeOp>(use) && runsBefore(use, builder);
           });
  });
}

/// Whether a signed step is known to be positive: a constant, the size of the grid, products of these.
static bool isPositive(mlir::Value value, const mlir::OpBuilder &builder, unsigned depth = 0) {
  if (isPositiveNumber(value) || value.getDefiningOp<tt::GetNumProgramsOp>() || isAssumedPositive(value, builder))
    return true;
  mlir::Operation *op = value.getDefiningOp();
  static constexpr unsigned maxDepth = 4;
  if (!op || depth == maxDepth || !llvm::isa<arith::MulIOp, arith::ExtSIOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return isPositive(operand, builder, depth + 1); });
}

//--- Counted loops -------------------------------------------------------------------------

namespace {
/// Counts the iterations of range(bounds.first, end, bounds.stride); `isNegative` is of the step in its own type.
struct IterationCount {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const LoopBounds &bounds;
  mlir::Value end, isNegative;

  mlir::Value number(int64_t value) const {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(end.getType(), value));
  }
  template <typename Op, typename... Args> mlir::Value make(Args... args) const {
    return builder.createOrFold<Op>(loc, args...);
  }
  mlir::Value count() const {
    using Predicate = arith::CmpIPredicate;
    const mlir::Value low = make<arith::SelectOp>(isNegative, end, bounds.first);
    const mlir::Value high = make<arith::SelectOp>(isNegative, bounds.first, end);
    const mlir::Value negated = make<arith::SubIOp>(number(0), bounds.stride);
    const mlir::Value magnitude = make<arith::SelectOp>(isNegative, negated, bounds.stride);
    const mlir::Value hasStep = make<arith::CmpIOp>(Predicate::ne, bounds.stride, number(0));
    const Predicate less = bounds.comparesUnsigned ? Predicate::ult : Predicate::slt;
    const mlir::Value runs = make<arith::AndIOp>(make<arith::CmpIOp>(less, low, high), hasStep);
    const mlir::Value beforeLast = make<arith::SubIOp>(make<arith::SubIOp>(high, low), number(1));
    const mlir::Value divisor = make<arith::SelectOp>(hasStep, magnitude, number(1));
    const mlir::Value steps = make<arith::DivUIOp>(beforeLast, divisor);
    return make<arith::SelectOp>(runs, make<arith::AddIOp>(steps, number(1)), number(0));
  }
};
} // namespace

/// With the option debug, a step of 0 ends the launch with Python's message.
void TtFunctionEmitter::assertStep(mlir::Value step, SourceRange where) {
  if (!module.options.debug || isPositive(step, builder))
    return;
  const mlir::Location loc = location(where);
  mlir::Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(step.getType(), 0));
  mlir::Value isStep = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, step, zero);
  tt::AssertOp::create(builder, loc, isStep, builder.getStringAttr("range() arg 3 must not be zero"));
}

std::optional<LoopBounds> TtFunctionEmitter::loopBounds(const RangeValue &range, SourceRange where) {
  Value operands[3];
  LoopBounds bounds;
  if (!readBounds(range, where, operands, bounds.type))
    return std::nullopt;
  // One bound with a sign gives the loop no type with one, but may be negative, as the end of an empty range.
  bounds.comparesUnsigned = isUnsignedInteger(bounds.type) && !hasSign(range.begin) && !hasSign(range.end);
  const Value own = operands[2];
  for (Value &bound : operands)
    bound = cast(bound, Type(bounds.type), where);
  const mlir::Value lower = operands[0].tensor()->value, upper = operands[1].tensor()->value,
                    step = operands[2].tensor()->value;
  const llvm::DynamicAPInt *constant = range.step.integer();
  if (constant ? *constant > 0 : range.step.is<bool>() || isPositive(own.tensor()->value, builder)) {
    bounds.lower = lower;
    bounds.upper = upper;
    bounds.step = step;
    return bounds;
  }
  assertStep(own.tensor()->value, where);
  const mlir::Location loc = location(where);
  mlir::Value isNegative;
  if (constant || !isSignedInteger(own.tensor()->type.scalar)) {
    isNegative = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(constant != nullptr));
  } else {
    mlir::Value ownStep = own.tensor()->value;
    mlir::Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(ownStep.getType(), 0));
    isNegative = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, ownStep, zero);
  }
  bounds.first = lower;
  bounds.stride = step;
  const IterationCount counted{builder, loc, bounds, upper, isNegative};
  bounds.upper = counted.count();
  bounds.comparesUnsigned = true; // the iterations
  bounds.lower = counted.number(0);
  bounds.step = counted.number(1);
  return bounds;
}

//--- The loop's variable -------------------------------------------------------------------

mlir::Value LoopBounds::variable(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index) const {
  if (!first)
    return index;
  llvm::APInt number;
  if (mlir::matchPattern(stride, mlir::m_ConstantInt(&number)) && number.isAllOnes())
    return arith::SubIOp::create(builder, loc, first, index);
  return arith::AddIOp::create(builder, loc, first, arith::MulIOp::create(builder, loc, index, stride));
}

std::pair<mlir::Value, mlir::Value> LoopBounds::lastIndex(mlir::OpBuilder &builder, mlir::Location loc) const {
  auto subtract = [&](mlir::Value a, mlir::Value b) -> mlir::Value {
    return arith::SubIOp::create(builder, loc, a, b);
  };
  const arith::CmpIPredicate less = comparesUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  const mlir::Value runs = arith::CmpIOp::create(builder, loc, less, lower, upper);
  const mlir::Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(lower.getType(), 1));
  if (first)
    return {subtract(upper, one), runs};
  // As unsigned numbers the distance and its multiples of the step do not overflow.
  const mlir::Value times = arith::DivUIOp::create(builder, loc, subtract(subtract(upper, lower), one), step);
  const mlir::Value distance = arith::MulIOp::create(builder, loc, times, step);
  return {arith::AddIOp::create(builder, loc, lower, distance), runs};
}
