// Distinguishes gathers at a fixed XOR distance from those with arbitrary indices; states the scratch memory of
// gathers, scatters and histograms and relates their layouts.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/GatherPlan.h"

#include "compiler/dialect/ttg/TtOpRules.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// The only operand's dimension that dimension `dim` of the result comes from; none where it has one index there. A
/// reshape may take another order of the elements.
static std::optional<unsigned> operandDim(Operation *op, unsigned dim) {
  auto moving = dyn_cast<tt::ElementMapOpInterface>(op);
  if (!moving || isa<tt::ReshapeOp>(op) || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return std::nullopt;
  for (auto [operandIndex, index] : llvm::enumerate(moving.getElementMap(0, 0)))
    if (index.isDim(dim))
      return operandIndex;
  return std::nullopt;
}

/// The number that all elements are equal to, found through changes of shape.
static std::optional<int64_t> uniformNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return number.getSExtValue();
    if (op->getNumOperands() != 1 || !isa<tt::ElementMapOpInterface>(op))
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

std::optional<uint32_t> ttg::exchangeDistance(tt::GatherOp op) {
  const ArrayRef<int64_t> shape = tt::shapeOf(op.getSrc().getType());
  if (shape != tt::shapeOf(op.getIndices().getType()))
    return std::nullopt;
  const std::optional<int64_t> distance = xorDistance(op.getIndices(), op.getAxis());
  if (!distance || *distance < 0 || *distance >= shape[op.getAxis()])
    return std::nullopt;
  return *distance;
}

std::optional<layout::ExchangePlan> ttg::planExchange(tt::GatherOp op) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()), to = cast<RankedTensorType>(op.getType());
  if (from.getEncoding() != to.getEncoding())
    return std::nullopt;
  const std::optional<uint32_t> distance = exchangeDistance(op);
  if (!distance)
    return std::nullopt;
  return layout::planExchange(linearLayoutOf(from), op.getAxis(), *distance, tt::memoryBits(from.getElementType()));
}

namespace {
struct GatherScratch : ScratchOpInterface::ExternalModel<GatherScratch, tt::GatherOp> {
  Scratch getScratch(Operation *op) const {
    auto gather = cast<tt::GatherOp>(op);
    auto source = cast<RankedTensorType>(gather.getSrc().getType());
    if (!encodingOf(gather.getType()))
      return {};
    if (auto exchange = planExchange(gather))
      return {exchange->sharedBytes(), exchange->sharedBytes() ? exchange->shared.barriers() : 0};
    return {uint32_t(tt::tileBytes(source)), 1};
  }
};

struct GatherRelation : LayoutRelationOpInterface::ExternalModel<GatherRelation, tt::GatherOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    auto gather = cast<tt::GatherOp>(op);
    LayoutRelation relation(op, gather.getType());
    relation.operands[gather.getIndicesMutable().getOperandNumber()].kind = LayoutLink::Kind::Same;
    relation.results.front().kind = LayoutLink::Kind::Same;
    // An exchange between threads needs no buffer if both tiles have one layout; any other gather writes its source to
    // a buffer from any layout.
    if (exchangeDistance(gather))
      relation.operands[gather.getSrcMutable().getOperandNumber()].kind = LayoutLink::Kind::ToOp;
    return relation;
  }
};

/// The counters or sums: one barrier after they are cleared, one before they are read.
template <typename Op> struct SumsScratch : ScratchOpInterface::ExternalModel<SumsScratch<Op>, Op> {
  Scratch getScratch(Operation *op) const {
    auto sums = cast<RankedTensorType>(op->getResult(0).getType());
    return encodingOf(sums) ? Scratch{uint32_t(tt::tileBytes(sums)), 2} : Scratch();
  }
};

/// Threads read the result's elements in any layout.
template <typename Op> struct SumsRelation : LayoutRelationOpInterface::ExternalModel<SumsRelation<Op>, Op> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    LayoutRelation relation(op, cast<RankedTensorType>(op->getOperand(0).getType()));
    relation.uniteOperands(op);
    return relation;
  }
};
} // namespace

void ttg::addGatherRules(MLIRContext *context) {
  tt::GatherOp::attachInterface<GatherScratch, GatherRelation>(*context);
  tt::HistogramOp::attachInterface<SumsScratch<tt::HistogramOp>, SumsRelation<tt::HistogramOp>>(*context);
  tt::ScatterAddOp::attachInterface<SumsScratch<tt::ScatterAddOp>, SumsRelation<tt::ScatterAddOp>>(*context);
}
