// Checks and inspects the regions of reductions and scans.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Combine.h"

#include "compiler/dialect/tt/Dialect.h"

using namespace mlir;
using namespace nereid;

LogicalResult tt::verifyCombined(Operation *op, ValueRange tiles) {
  if (tiles.empty())
    return op->emitOpError("has no operand");
  auto first = cast<RankedTensorType>(tiles.front().getType());
  for (Value value : tiles) {
    auto tile = cast<RankedTensorType>(value.getType());
    if (tile.getShape() != first.getShape())
      return op->emitOpError("operands have different shapes");
    if (tile.getEncoding() != first.getEncoding())
      return op->emitOpError("operands have different encodings");
  }
  return success();
}

LogicalResult tt::verifyCombineRegion(Operation *op, ValueRange tiles, Block &body, Operation *end) {
  SmallVector<Type> elements;
  for (Value tile : tiles)
    elements.push_back(elementOf(tile.getType()));
  SmallVector<Type> expected(elements);
  expected.append(elements);
  if (!llvm::equal(body.getArgumentTypes(), expected))
    return op->emitOpError("combine region must take two scalars of each operand's element type");
  if (!end || !llvm::equal(end->getOperandTypes(), elements))
    return op->emitOpError("combine region must return one scalar of each operand's element type");
  return success();
}

Operation *tt::singleCombination(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation &combination = body.front();
  const bool isAll = combination.getNumOperands() == 2 && combination.getNumResults() == 1 &&
                     llvm::is_contained(combination.getOperands(), body.getArgument(0)) &&
                     llvm::is_contained(combination.getOperands(), body.getArgument(1)) &&
                     body.back().getOperands() == combination.getResults();
  return isAll ? &combination : nullptr;
}
