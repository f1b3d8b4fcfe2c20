// Joins, splits and concatenations: registers under other names.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

using Place = LinearLayout::Coordinates;

static std::vector<Place> placesOf(Type type) {
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(type));
  std::vector<Place> places;
  for (int32_t index = 0; index < layout.inSize(layout::kRegister); ++index)
    places.push_back(layout.apply({{layout::kRegister, index}}));
  return places;
}

/// The register with a place in the first thread; of copies, the first.
static std::optional<unsigned> registerAt(ArrayRef<Place> places, const Place &place) {
  auto found = llvm::find(places, place);
  return found == places.end() ? std::nullopt : std::optional<unsigned>(found - places.begin());
}

static LogicalResult doesNotFit(Operation *op) {
  return op->emitError() << "the layouts of `" << op->getName() << "` do not fit together; this is a defect of the compiler";
}

/// A place in the result of a join or cat as the operand that has it and the place there.
static std::pair<unsigned, Place> operandPlace(Operation *op, Place place) {
  if (isa<tt::JoinOp>(op)) {
    const unsigned operand = place.back();
    place.pop_back();
    return {operand, place};
  }
  const int32_t half = tt::shapeOf(op->getOperand(0).getType()).front();
  return {place.front() >= half, {place.front() % half}};
}

LogicalResult FunctionEmitter::emitJoin(Operation *op) {
  const std::vector<Place> places = placesOf(op->getOperand(0).getType());
  Tile result;
  for (const Place &place : placesOf(op->getResult(0).getType())) {
    const auto [operand, inside] = operandPlace(op, place);
    const std::optional<unsigned> index = registerAt(places, inside);
    if (!index)
      return doesNotFit(op);
    result.push_back(tile(op->getOperand(operand))[*index]);
  }
  define(op->getResult(0), std::move(result));
  return success();
}

LogicalResult FunctionEmitter::emitSplit(tt::SplitOp op) {
  const std::vector<Place> places = placesOf(op.getSrc().getType()), wanted = placesOf(op.getOutLHS().getType());
  for (OpResult half : op->getResults()) {
    Tile result;
    for (Place place : wanted) {
      place.push_back(half.getResultNumber());
      const std::optional<unsigned> index = registerAt(places, place);
      if (!index)
        return doesNotFit(op);
      result.push_back(tile(op.getSrc())[*index]);
    }
    define(half, std::move(result));
  }
  return success();
}
