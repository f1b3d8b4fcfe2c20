// Answers for ops of other dialects what ElementMapOpInterface answers for those of `tt`.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

ElementMap tt::identityMap(size_t rank) {
  return llvm::map_to_vector<4>(llvm::seq<size_t>(0, rank), [](size_t dim) { return ElementIndex::ofDim(dim); });
}

std::optional<ElementMap> tt::elementMapOf(Operation *op, unsigned operand, unsigned result) {
  if (auto moves = dyn_cast<ElementMapOpInterface>(op))
    return moves.getElementMap(operand, result);
  if (op->hasTrait<OpTrait::Elementwise>() || isa<MemoryAccessOpInterface>(op))
    return identityMap(shapeOf(op->getOperand(operand).getType()).size());
  return std::nullopt;
}

OperandRange tt::elementSources(Operation *op) {
  if (auto moves = dyn_cast<ElementMapOpInterface>(op))
    return moves.getElementSources();
  const OperandRange operands = op->getOperands();
  return isa<arith::SelectOp>(op) ? operands.drop_front() : operands.take_front(0);
}
