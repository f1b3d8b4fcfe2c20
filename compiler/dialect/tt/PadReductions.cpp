// Pads reductions and scans.
// SPDX-License-Identifier: MIT
//
// Where the combination is one op with a neutral element, that replaces elements that do not exist. Any other
// combination takes a flag beside its values, and skips values without the flag.
//
//   reduce(x) { f(a, b) }   ->   reduce(x, exists) { both ? f(a, b) : exists a ? a : b, exists a or exists b }
#include "compiler/dialect/tt/Combine.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/dialect/tt/PaddedTiles.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

//--- flags ---------------------------------------------------------------------------------

/// Adds a flag after the values of either side of the body, and after its results.
static void addFlag(Block &body) {
  Operation *end = body.getTerminator();
  const unsigned count = end->getNumOperands();
  ImplicitLocOpBuilder builder(end->getLoc(), end);
  const Type type = builder.getI32Type();
  Value first = body.insertArgument(count, type, end->getLoc());
  Value second = body.addArgument(type, end->getLoc());
  Value zero = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0));
  auto isSet = [&](Value flag) { return Value(arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, flag, zero)); };
  Value both = isSet(arith::AndIOp::create(builder, first, second)), hasFirst = isSet(first);
  SmallVector<Value> results;
  for (unsigned index = 0; index < count; ++index) {
    Value left = body.getArgument(index), right = body.getArgument(count + 1 + index);
    Value one = arith::SelectOp::create(builder, hasFirst, left, right);
    results.push_back(arith::SelectOp::create(builder, both, end->getOperand(index), one));
  }
  results.push_back(arith::OrIOp::create(builder, first, second));
  end->setOperands(results);
}

/// The extents along `axis` alone, since elements of other dimensions do not mix.
static Extents along(ArrayRef<int64_t> shape, ArrayRef<int64_t> extents, unsigned axis) {
  Extents own(shape);
  own[axis] = extents[axis];
  return own;
}

/// Replaces padding by neutral elements; false where none are known.
template <typename Op> static bool padWithNeutral(Op op, ArrayRef<int64_t> existing) {
  Operation *combination = singleCombination(op.getCombine().front());
  Attribute neutral = combination ? neutralElement(combination) : TypedAttr();
  if (!neutral)
    return false;
  PaddedBuilder builder(op);
  op->setOperand(0, builder.onlyExisting(op->getOperand(0), existing, neutral));
  return true;
}

/// The operands and a flag for each element.
template <typename Op> static SmallVector<Value> withFlags(Op op, ArrayRef<int64_t> existing) {
  PaddedBuilder builder(op);
  Value first = op->getOperand(0);
  auto type = cast<RankedTensorType>(withElement(first.getType(), builder.builder.getI32Type()));
  Value flags = arith::SelectOp::create(builder.builder, builder.existing(type.getShape(), existing),
                                        builder.constant(type, 1), builder.constant(type, 0));
  SmallVector<Value> sources(op.getSrcs());
  sources.push_back(flags);
  return sources;
}

template <typename Op> static void replaceWith(Op op, Op made) {
  made.getCombine().takeBody(op.getCombine());
  addFlag(made.getCombine().front());
  op->replaceAllUsesWith(made.getResults().drop_back());
  op->erase();
}

LogicalResult ReduceOp::prepareForPadding() { return rejectEffects(*this); }
LogicalResult ScanOp::prepareForPadding() { return rejectEffects(*this); }

void ReduceOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  const Extents existing = along(shapeOf(getSrcs().front().getType()), operands.front(), getAxis());
  if (!needsPadding(existing) || padWithNeutral(*this, existing))
    return;
  const SmallVector<Value> sources = withFlags(*this, existing);
  OpBuilder builder(*this);
  replaceWith(*this, ReduceOp::create(builder, getLoc(), sources, getAxis()));
}

void ScanOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  if (!getReverse())
    return; // elements that do not exist follow all that do
  const Extents existing = along(shapeOf(getSrcs().front().getType()), operands.front(), getAxis());
  if (!needsPadding(existing) || padWithNeutral(*this, existing))
    return;
  const SmallVector<Value> sources = withFlags(*this, existing);
  OpBuilder builder(*this);
  replaceWith(*this, ScanOp::create(builder, getLoc(), ValueRange(sources).getTypes(), sources, getAxis(), true));
}
