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

/// A reshape that only adds or removes dimensions of extent 1.
static std::optional<IndexMap> reshapeMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to, const IndexMap &result) {
  IndexMap map(from.size(), -1);
  size_t target = 0;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (from[dim] == 1)
      continue;
    while (target < to.size() && to[target] == 1)
      ++target;
    if (target == to.size() || to[target] != from[dim])
      return std::nullopt;
    map[dim] = result[target++];
  }
  return map;
}

std::optional<IndexMap> cpu::operandMap(Operation *op, unsigned operand, const IndexMap &result) {
  Type type = op->getOperand(operand).getType();
  if (!isa<RankedTensorType>(type))
    return IndexMap();
  ArrayRef<int64_t> from = tt::shapeOf(type);
  IndexMap map = result;
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    map.erase(map.begin() + expand.getAxis());
  } else if (isa<tt::SplitOp>(op)) {
    map.push_back(fixedIndex(0));
  } else if (isa<tt::JoinOp>(op)) {
    map.pop_back();
  } else if (isa<tt::GatherOp>(op) && operand == 0) {
    map.assign(from.size(), fixedIndex(0)); // read from a buffer, at any index
  } else if (auto trans = dyn_cast<tt::TransOp>(op)) {
    for (auto [dim, source] : llvm::enumerate(trans.getOrder()))
      map[source] = result[dim];
  } else if (isa<tt::ReshapeOp>(op)) {
    auto simple = reshapeMap(from, tt::shapeOf(op->getResult(0).getType()), result);
    if (!simple)
      return std::nullopt;
    map = *simple;
  }
  for (auto [dim, extent] : llvm::enumerate(from))
    if (extent == 1)
      map[dim] = -1;
  return map;
}

std::optional<IndexMap> cpu::operandMap(Value result, unsigned operand, const IndexMap &map) {
  Operation *op = result.getDefiningOp();
  std::optional<IndexMap> inner = operandMap(op, operand, map);
  if (inner && isa<tt::SplitOp>(op))
    inner->back() = fixedIndex(cast<OpResult>(result).getResultNumber());
  return inner;
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
