// Computes index maps through the ops that rearrange tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/IndexMap.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

IndexMap cpu::identityMap(size_t rank) {
  IndexMap map(rank);
  for (size_t dim = 0; dim < rank; ++dim)
    map[dim] = dim;
  return map;
}

bool cpu::isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<arith::SelectOp, tt::AddPtrOp>(op);
}

bool cpu::isShapeChange(Operation *op) {
  return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, tt::SplitOp>(op);
}

std::optional<IndexMap> cpu::operandMap(Operation *op, unsigned operand, const IndexMap &result, unsigned number) {
  using Kind = tt::ElementIndex::Kind;
  const Type type = op->getOperand(operand).getType();
  if (!isa<RankedTensorType>(type))
    return IndexMap();
  ArrayRef<int64_t> from = tt::shapeOf(type);
  const tt::ElementMap elements = tt::elementMapOf(op, operand, number).value_or(tt::identityMap(from.size()));
  IndexMap map(from.size(), fixedIndex(0));
  if (llvm::is_contained(elements, tt::ElementIndex::any()))
    return map; // read from a buffer, at any index
  for (auto [dim, index] : llvm::enumerate(elements)) {
    if (index.kind == Kind::Unknown)
      return std::nullopt;
    if (from[dim] != 1)
      map[dim] = index.kind == Kind::ResultDim ? result[index.number] : fixedIndex(index.number);
  }
  return map;
}

std::optional<IndexMap> cpu::operandMap(Value result, unsigned operand, const IndexMap &map) {
  return operandMap(result.getDefiningOp(), operand, map, cast<OpResult>(result).getResultNumber());
}

std::optional<int64_t> cpu::xorOfIndex(Value index, IndexMap map, int loop) {
  while (Operation *op = index.getDefiningOp()) {
    if (isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp>(op)) {
      map = *operandMap(index, 0, map);
      index = op->getOperand(0);
      continue;
    }
    if (auto range = dyn_cast<tt::MakeRangeOp>(op))
      return range.getStart() == 0 && map[0] == loop ? std::optional<int64_t>(0) : std::nullopt;
    auto difference = dyn_cast<arith::XOrIOp>(op);
    APInt factor;
    if (!difference)
      return std::nullopt;
    Value place = difference.getLhs();
    if (!matchPattern(difference.getRhs(), m_ConstantInt(&factor))) {
      place = difference.getRhs();
      if (!matchPattern(difference.getLhs(), m_ConstantInt(&factor)))
        return std::nullopt;
    }
    auto inner = xorOfIndex(place, map, loop);
    return inner ? std::optional(*inner ^ factor.getSExtValue()) : std::nullopt;
  }
  return std::nullopt;
}
