// Emits joins, splits and concatenations, which only rename registers.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

using Coordinates = LinearLayout::Coordinates;

static std::vector<Coordinates> coordinatesOf(Type type) {
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(type));
  std::vector<Coordinates> registerCoordinates;
  for (int32_t index = 0; index < layout.inSize(layout::kRegister); ++index)
    registerCoordinates.push_back(layout.apply({{layout::kRegister, index}}));
  return registerCoordinates;
}

/// The register that holds the coordinates in the first thread; of copies, the first.
static std::optional<unsigned> registerAt(ArrayRef<Coordinates> registerCoordinates, const Coordinates &coordinates) {
  auto found = llvm::find(registerCoordinates, coordinates);
  return found == registerCoordinates.end() ? std::nullopt
                                            : std::optional<unsigned>(found - registerCoordinates.begin());
}

static LogicalResult doesNotFit(Operation *op) {
  return op->emitError() << "the layouts of `" << op->getName() << "` do not fit together";
}

/// The operand of a join or cat that holds an element of the result, and the element's coordinates there.
static std::pair<unsigned, Coordinates> operandCoordinates(Operation *op, Coordinates coordinates) {
  if (isa<tt::JoinOp>(op)) {
    const unsigned operand = coordinates.back();
    coordinates.pop_back();
    return {operand, coordinates};
  }
  const int32_t half = tt::shapeOf(op->getOperand(0).getType()).front();
  return {coordinates.front() >= half, {coordinates.front() % half}};
}

static LogicalResult emitJoin(TtgFunctionEmitter &emitter, Operation *op) {
  const std::vector<Coordinates> registerCoordinates = coordinatesOf(op->getOperand(0).getType());
  Tile result;
  for (const Coordinates &coordinates : coordinatesOf(op->getResult(0).getType())) {
    const auto [operand, inside] = operandCoordinates(op, coordinates);
    const std::optional<unsigned> index = registerAt(registerCoordinates, inside);
    if (!index)
      return doesNotFit(op);
    result.push_back(emitter.tile(op->getOperand(operand))[*index]);
  }
  emitter.define(op->getResult(0), std::move(result));
  return success();
}

static LogicalResult emitSplit(TtgFunctionEmitter &emitter, tt::SplitOp op) {
  const std::vector<Coordinates> registerCoordinates = coordinatesOf(op.getSrc().getType()),
                                 wanted = coordinatesOf(op.getOutLHS().getType());
  for (OpResult half : op->getResults()) {
    Tile result;
    for (Coordinates coordinates : wanted) {
      coordinates.push_back(half.getResultNumber());
      const std::optional<unsigned> index = registerAt(registerCoordinates, coordinates);
      if (!index)
        return doesNotFit(op);
      result.push_back(emitter.tile(op.getSrc())[*index]);
    }
    emitter.define(half, std::move(result));
  }
  return success();
}

void lowering::addJoinEmitters(OpEmitters &table) {
  table.add<emitJoin, tt::JoinOp, tt::CatOp>();
  table.add<emitSplit, tt::SplitOp>();
}
