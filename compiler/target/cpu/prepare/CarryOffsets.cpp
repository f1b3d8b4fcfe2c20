// Makes loops carry a scalar offset instead of a tile of pointers or integers that moves by equal steps.
// SPDX-License-Identifier: MIT
//
//   for iter_args(%p = %start) {            for iter_args(%o = 0) {
//     ... %p ...                       ->     ... %start + splat %o ...
//     yield %p + splat %step                  yield %o + %step
//
// The tile is then affine, needs no buffer, and its loads use whole vectors.
#include "compiler/target/cpu/prepare/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace nereid::cpu {
#define GEN_PASS_DEF_CARRYOFFSETS
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;

namespace {
/// The scalars that one iteration adds to a carried tile.
struct Movement {
  SmallVector<Value, 2> steps; ///< scalars, or constant tiles of equal elements
  bool isPointer = false;
};
} // namespace

static bool isUniform(Value tile) {
  DenseElementsAttr constant;
  return tile.getDefiningOp<tt::SplatOp>() || (matchPattern(tile, m_Constant(&constant)) && constant.isSplat());
}

/// Nullopt unless the next value is the tile plus equal steps.
static std::optional<Movement> movementOf(scf::ForOp loop, unsigned index) {
  Value tile = loop.getRegionIterArg(index), value = loop.getYieldedValues()[index];
  Type element = tt::elementOf(tile.getType());
  Movement movement{{}, isa<tt::PointerType>(element)};
  if (!isa<RankedTensorType>(tile.getType()) || !(movement.isPointer || element.isInteger(32) || element.isInteger(64)))
    return std::nullopt;
  while (value != tile) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<tt::AddPtrOp, arith::AddIOp>(op))
      return std::nullopt;
    const bool isSecond = isUniform(op->getOperand(1));
    if (!isSecond && (movement.isPointer || !isUniform(op->getOperand(0))))
      return std::nullopt;
    movement.steps.push_back(op->getOperand(isSecond));
    value = op->getOperand(!isSecond);
  }
  if (movement.steps.empty())
    return std::nullopt;
  return movement;
}

/// The sum of the steps, in the type of the offset.
static Value totalStep(OpBuilder &builder, Location loc, Value offset, const Movement &movement) {
  for (Value step : movement.steps) {
    Value scalar;
    if (DenseElementsAttr constant; matchPattern(step, m_Constant(&constant)))
      scalar = arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(offset.getType(), constant.getSplatValue<APInt>().getSExtValue()));
    else
      scalar = step.getDefiningOp<tt::SplatOp>().getSrc();
    if (scalar.getType() != offset.getType())
      scalar = arith::ExtSIOp::create(builder, loc, offset.getType(), scalar);
    offset = arith::AddIOp::create(builder, loc, offset, scalar);
  }
  return offset;
}

static Value moved(OpBuilder &builder, Location loc, Value start, Value offset) {
  Value tile = tt::SplatOp::create(builder, loc, tt::withElement(start.getType(), offset.getType()), offset);
  if (isa<tt::PointerType>(tt::elementOf(start.getType())))
    return tt::AddPtrOp::create(builder, loc, start.getType(), start, tile);
  return arith::AddIOp::create(builder, loc, start, tile);
}

static void carryOffsets(scf::ForOp loop) {
  SmallVector<std::optional<Movement>> movements;
  for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
    movements.push_back(movementOf(loop, index));
  if (llvm::none_of(movements, [](const auto &movement) { return movement.has_value(); }))
    return;
  const Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  for (auto [init, movement] : llvm::zip_equal(inits, movements))
    if (movement) {
      Type type = movement->isPointer ? Type(builder.getI64Type()) : tt::elementOf(init.getType());
      init = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
    }
  auto next = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  next->setAttrs(loop->getAttrs());
  Block *from = loop.getBody(), *to = next.getBody();
  from->getArgument(0).replaceAllUsesWith(to->getArgument(0));
  to->getOperations().splice(to->end(), from->getOperations());
  builder.setInsertionPointToStart(to);
  OpBuilder end(to->getTerminator());
  for (unsigned index = 0; index < movements.size(); ++index) {
    Value offset = next.getRegionIterArg(index), result = next.getResult(index);
    const std::optional<Movement> &movement = movements[index];
    if (movement) {
      Value sum = totalStep(end, loc, offset, *movement);
      offset = moved(builder, loc, loop.getInitArgs()[index], offset);
      to->getTerminator()->setOperand(index, sum);
      OpBuilder behind(loop);
      result = moved(behind, loc, loop.getInitArgs()[index], result);
    }
    loop.getRegionIterArg(index).replaceAllUsesWith(offset);
    loop.getResult(index).replaceAllUsesWith(result);
  }
  loop.erase();
}

namespace {
struct CarryOffsets : nereid::cpu::impl::CarryOffsetsBase<CarryOffsets> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      carryOffsets(loop);
  }
};
} // namespace
