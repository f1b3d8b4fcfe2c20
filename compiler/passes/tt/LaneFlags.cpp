// Propagates per-element flags through ops, and creates the first ones.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/LaneFlags.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;
using arith::CmpIPredicate;

static Value constant(OpBuilder &builder, Location loc, Type type, int64_t number) {
  TypedAttr value = builder.getIntegerAttr(elementOf(type), number);
  if (auto tile = dyn_cast<RankedTensorType>(type))
    value = DenseElementsAttr::get(tile, Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

Value tt::negated(OpBuilder &builder, Location loc, Value flags) {
  return arith::XOrIOp::create(builder, loc, flags, constant(builder, loc, flags.getType(), -1));
}

//--- first flags ---------------------------------------------------------------------------

Value tt::maskedOff(OpBuilder &builder, Operation *op, bool withOther) {
  auto access = dyn_cast<MemoryAccessOpInterface>(op);
  if (!access || !access.readsMemory() || (access.getMaskedOffValue() && !withOther))
    return {};
  Value mask = access.getAccessMask();
  return mask ? negated(builder, op->getLoc(), mask) : Value();
}

/// Compares with the product in twice as many bits.
static Value wrappedProduct(OpBuilder &builder, arith::MulIOp op, bool isUnsigned) {
  const Location loc = op.getLoc();
  const Type wide =
      withElement(op.getType(), builder.getIntegerType(2 * elementOf(op.getType()).getIntOrFloatBitWidth()));
  auto widened = [&](Value value) -> Value {
    return isUnsigned ? arith::ExtUIOp::create(builder, loc, wide, value).getResult()
                      : arith::ExtSIOp::create(builder, loc, wide, value).getResult();
  };
  Value exact = arith::MulIOp::create(builder, loc, widened(op.getLhs()), widened(op.getRhs()));
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, exact, widened(op.getResult()));
}

/// Shifts back, and compares.
static Value wrappedShift(OpBuilder &builder, arith::ShLIOp op, bool isUnsigned) {
  const Location loc = op.getLoc();
  Value back = isUnsigned ? arith::ShRUIOp::create(builder, loc, op.getResult(), op.getRhs()).getResult()
                          : arith::ShRSIOp::create(builder, loc, op.getResult(), op.getRhs()).getResult();
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, back, op.getLhs());
}

Value tt::wrapped(OpBuilder &builder, Operation *op, bool isUnsigned) {
  if (auto shift = dyn_cast<arith::ShLIOp>(op))
    return wrappedShift(builder, shift, isUnsigned);
  if (auto product = dyn_cast<arith::MulIOp>(op))
    return wrappedProduct(builder, product, isUnsigned);
  const Location loc = op->getLoc();
  Value a = op->getOperand(0), b = op->getOperand(1), result = op->getResult(0);
  if (isUnsigned)
    return arith::CmpIOp::create(builder, loc, CmpIPredicate::ult, isa<arith::AddIOp>(op) ? result : a,
                                 isa<arith::AddIOp>(op) ? a : b);
  // For a sum, the result's sign differs from that of both addends; for a difference, from that of `a`, as does that of
  // `b`.
  Value changed = arith::XOrIOp::create(builder, loc, a, result);
  Value other = arith::XOrIOp::create(builder, loc, isa<arith::AddIOp>(op) ? result : a, b);
  Value both = arith::AndIOp::create(builder, loc, changed, other);
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, both, constant(builder, loc, both.getType(), 0));
}

//--- flags of results ----------------------------------------------------------------------

static Value either(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b || a == b)
    return a ? a : b;
  return arith::OrIOp::create(builder, loc, a, b);
}

/// The union of the flags of the values, which have one shape.
Value LaneFlags::any(OpBuilder &builder, Location loc, ValueRange values) const {
  Value result;
  for (Value value : values)
    result = either(builder, loc, result, of(value));
  return result;
}

/// For each lane, the flag of the value it selects.
Value LaneFlags::ofSelect(OpBuilder &builder, arith::SelectOp select) const {
  const Location loc = select.getLoc();
  Value condition = select.getCondition(), yes = of(select.getTrueValue()), no = of(select.getFalseValue());
  if (yes && condition.getType() == yes.getType())
    yes = arith::AndIOp::create(builder, loc, yes, condition);
  if (no && condition.getType() == no.getType())
    no = arith::AndIOp::create(builder, loc, no, negated(builder, loc, condition));
  Value result = either(builder, loc, yes, no), flag = of(condition);
  return !flag || shapeOf(flag.getType()) != shapeOf(select.getType()) ? result : either(builder, loc, result, flag);
}

/// For `and` and `or` of i1, an operand that decides the result alone voids the other one's flag.
Value LaneFlags::ofLogic(OpBuilder &builder, Operation *op) const {
  const Location loc = op->getLoc();
  Value result;
  for (unsigned index : {0u, 1u}) {
    Value flag = of(op->getOperand(index)), other = op->getOperand(1 - index);
    if (!flag)
      continue;
    Value leaves = isa<arith::AndIOp>(op) ? other : negated(builder, loc, other);
    leaves = either(builder, loc, leaves, of(other));
    result = either(builder, loc, result, arith::AndIOp::create(builder, loc, flag, leaves));
  }
  return result;
}

/// Moves the flags as the op moves elements; false where it moves none, or no operand has flags.
bool LaneFlags::move(OpBuilder &builder, Operation *op) {
  auto moving = dyn_cast<ElementMapOpInterface>(op);
  if (!moving || llvm::none_of(moving.getElementSources(), [&](Value value) { return of(value); }))
    return false;
  SmallVector<Value> moved;
  for (Value value : moving.getElementSources())
    moved.push_back(of(value) ? of(value) : constant(builder, op->getLoc(), i1Like(value.getType()), 0));
  Operation *copy = builder.clone(*op);
  for (auto [index, flag] : llvm::enumerate(moved))
    copy->setOperand(index, flag);
  for (auto [result, flag] : llvm::zip_equal(op->getResults(), copy->getResults())) {
    flag.setType(i1Like(result.getType()));
    flags[result] = flag;
  }
  return true;
}

void LaneFlags::visitCombined(Operation *op, Value own) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(own ? own.getDefiningOp() : op);
  Value source = any(builder, op->getLoc(), op->getOperands());
  Value flag = either(builder, op->getLoc(), source ? anyCombined(builder, op, source) : Value(), own);
  if (flag)
    for (Value result : op->getResults())
      flags[result] = flag;
}

void LaneFlags::visit(Operation *op, Value own) {
  if (op->getNumResults() == 0 || op->getNumRegions())
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(own ? own.getDefiningOp() : op);
  if (move(builder, op))
    return;
  Value flag;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    flag = ofSelect(builder, select);
  else if (isa<arith::AndIOp, arith::OrIOp>(op) && elementOf(op->getResult(0).getType()).isInteger(1))
    flag = ofLogic(builder, op);
  else if (op->hasTrait<OpTrait::Elementwise>())
    flag = any(builder, op->getLoc(), op->getOperands());
  flag = either(builder, op->getLoc(), flag, own);
  if (flag)
    for (Value result : op->getResults())
      if (shapeOf(result.getType()) == shapeOf(flag.getType()))
        flags[result] = flag;
}
