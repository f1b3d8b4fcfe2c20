// Finds the steps of carried tiles, and makes loops carry scalars in their place.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/CarriedTiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

/// The scalar of a tile of equal elements: of the splat, or a constant tile itself.
static Value equalElements(Value tile) {
  DenseElementsAttr constant;
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return splat.getSrc();
  return matchPattern(tile, m_Constant(&constant)) && constant.isSplat() ? tile : Value();
}

std::optional<Movement> tt::movementOf(scf::ForOp loop, unsigned index) {
  Value from = loop.getRegionIterArg(index), value = loop.getYieldedValues()[index];
  const Type element = elementOf(from.getType());
  const bool isMovable = isa<PointerType>(element) || element.isInteger(32) || element.isInteger(64);
  if (!isa<RankedTensorType>(from.getType()) || !isMovable)
    return std::nullopt;
  Movement movement{{}, {{loop, index}}};
  while (value != from) {
    Operation *op = value.getDefiningOp();
    if (auto inner = dyn_cast_or_null<scf::ForOp>(op)) {
      const unsigned at = cast<OpResult>(value).getResultNumber();
      const std::optional<Movement> inside = movementOf(inner, at);
      if (!inside)
        return std::nullopt;
      llvm::append_range(movement.steps, inside->steps);
      llvm::append_range(movement.carried, inside->carried);
      value = inner.getInitArgs()[at];
      continue;
    }
    if (!isa_and_nonnull<AddPtrOp, arith::AddIOp>(op))
      return std::nullopt;
    Value step = equalElements(op->getOperand(1));
    const bool isFirst = !step && isa<arith::AddIOp>(op);
    if (isFirst)
      step = equalElements(op->getOperand(0));
    if (!step)
      return std::nullopt;
    movement.steps.push_back(step);
    value = op->getOperand(isFirst);
  }
  return movement;
}

/// `offset` plus a step, a scalar or a constant tile.
static Value plusStep(OpBuilder &builder, Location loc, Value offset, Value step) {
  DenseElementsAttr constant;
  if (matchPattern(step, m_Constant(&constant)))
    step = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(offset.getType(), constant.getSplatValue<APInt>().getSExtValue()));
  if (step.getType() != offset.getType())
    step = arith::ExtSIOp::create(builder, loc, offset.getType(), step);
  return arith::AddIOp::create(builder, loc, offset, step);
}

static Value moved(OpBuilder &builder, Location loc, Value start, Value offset) {
  Value tile = SplatOp::create(builder, loc, withElement(start.getType(), offset.getType()), offset);
  if (isa<PointerType>(elementOf(start.getType())))
    return AddPtrOp::create(builder, loc, start.getType(), start, tile);
  return arith::AddIOp::create(builder, loc, start, tile);
}

/// The carried values with these indices; loops inside carry scalars already.
static void carryOffsets(scf::ForOp loop, ArrayRef<unsigned> indices) {
  const Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  SmallVector<SmallVector<Value, 2>> steps;
  for (unsigned index : indices) {
    steps.push_back(movementOf(loop, index)->steps);
    const Type element = elementOf(inits[index].getType());
    inits[index] = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(isa<PointerType>(element) ? builder.getI64Type() : element, 0));
  }
  auto next = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                                 /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *from = loop.getBody(), *to = next.getBody();
  to->getOperations().splice(to->end(), from->getOperations());
  from->getArgument(0).replaceAllUsesWith(to->getArgument(0));
  // A step that the loop itself gives, as its induction variable, is a scalar: the new loop has it at the same place.
  for (SmallVector<Value, 2> &ofTile : steps)
    for (Value &step : ofTile)
      if (auto argument = dyn_cast<BlockArgument>(step); argument && argument.getOwner() == from)
        step = to->getArgument(argument.getArgNumber());
  OpBuilder atStart = OpBuilder::atBlockBegin(to), atEnd(to->getTerminator()), behind(loop);
  for (unsigned index = 0; index < inits.size(); ++index) {
    Value inside = next.getRegionIterArg(index), result = next.getResult(index);
    if (const auto *at = llvm::find(indices, index); at != indices.end()) {
      Value sum = inside;
      for (Value step : steps[at - indices.begin()])
        sum = plusStep(atEnd, loc, sum, step);
      to->getTerminator()->setOperand(index, sum);
      inside = moved(atStart, loc, loop.getInitArgs()[index], inside);
      result = moved(behind, loc, loop.getInitArgs()[index], result);
    }
    loop.getRegionIterArg(index).replaceAllUsesWith(inside);
    loop.getResult(index).replaceAllUsesWith(result);
  }
  loop.erase();
}

void tt::carryOffsets(ArrayRef<CarriedTile> carried) {
  llvm::MapVector<Operation *, SmallVector<unsigned>> byLoop;
  for (auto [loop, index] : carried)
    byLoop[loop].push_back(index);
  // Loops inside first: their results then are sums of scalars.
  SmallVector<std::pair<unsigned, Operation *>> order;
  for (auto &[loop, indices] : byLoop) {
    unsigned depth = 0;
    for (Operation *parent = loop->getParentOp(); parent; parent = parent->getParentOp())
      ++depth;
    order.push_back({depth, loop});
  }
  llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (auto [depth, loop] : order)
    ::carryOffsets(cast<scf::ForOp>(loop), byLoop[loop]);
}
