// Distinguishes gathers at a fixed XOR distance from those with arbitrary indices.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/GatherPlan.h"

#include "compiler/analysis/MemoryAccess.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

/// The operand's dimension that dimension `dim` of the result comes from; none where it has one index there.
static std::optional<unsigned> operandDim(Operation *op, unsigned dim) {
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    if (expand.getAxis() == dim)
      return std::nullopt;
    return dim - (unsigned(expand.getAxis()) < dim);
  }
  if (auto trans = dyn_cast<tt::TransOp>(op))
    return trans.getOrder()[dim];
  if (isa<tt::BroadcastOp, ttg::ConvertLayoutOp>(op) &&
      tt::shapeOf(op->getOperand(0).getType())[dim] == tt::shapeOf(op->getResult(0).getType())[dim])
    return dim;
  return std::nullopt;
}

/// The number that all elements are equal to, found through changes of shape.
static std::optional<int64_t> uniformNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return number.getSExtValue();
    if (!isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, ttg::ConvertLayoutOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The d such that each element of `index` is its coordinate along `dim` XOR d.
static std::optional<int64_t> xorDistance(Value index, unsigned dim) {
  int64_t distance = 0;
  while (Operation *op = index.getDefiningOp()) {
    if (auto range = dyn_cast<tt::MakeRangeOp>(op))
      return range.getStart() == 0 ? std::optional(distance) : std::nullopt;
    if (isa<arith::XOrIOp>(op)) {
      const unsigned operandIndex = uniformNumber(op->getOperand(1)) ? 0 : 1;
      const std::optional<int64_t> number = uniformNumber(op->getOperand(1 - operandIndex));
      if (!number)
        return std::nullopt;
      distance ^= *number;
      index = op->getOperand(operandIndex);
    } else if (auto inner = operandDim(op, dim)) {
      dim = *inner;
      index = op->getOperand(0);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> analysis::exchangeDistance(tt::GatherOp op) {
  const ArrayRef<int64_t> shape = tt::shapeOf(op.getSrc().getType());
  if (shape != tt::shapeOf(op.getIndices().getType()))
    return std::nullopt;
  const std::optional<int64_t> distance = xorDistance(op.getIndices(), op.getAxis());
  if (!distance || *distance < 0 || *distance >= shape[op.getAxis()])
    return std::nullopt;
  return *distance;
}

std::optional<layout::ExchangePlan> analysis::planExchange(tt::GatherOp op) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()), to = cast<RankedTensorType>(op.getType());
  if (from.getEncoding() != to.getEncoding())
    return std::nullopt;
  const std::optional<uint32_t> distance = exchangeDistance(op);
  if (!distance)
    return std::nullopt;
  return layout::planExchange(ttg::linearLayoutOf(from), op.getAxis(), *distance, memoryBits(from.getElementType()));
}

uint32_t analysis::gatherBytes(tt::GatherOp op) {
  if (auto exchange = planExchange(op))
    return exchange->sharedBytes();
  auto from = cast<RankedTensorType>(op.getSrc().getType());
  return from.getNumElements() * memoryBits(from.getElementType()) / 8;
}
