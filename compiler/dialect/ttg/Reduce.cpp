// States the scratch memory of reductions and relates their layouts.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TtOpRules.h"
#include "compiler/layout/Reduction.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

static uint32_t reductionBytes(tt::ReduceOp op) {
  auto tile = cast<RankedTensorType>(op.getSrcs().front().getType());
  if (!encodingOf(tile))
    return 0;
  const layout::LinearLayout &source = linearLayoutOf(tile);
  // Most reductions stay in their warps and need no plan.
  for (unsigned bit = 0; bit < source.inBits(layout::kWarp); ++bit)
    if (source.basis(layout::kWarp, bit)[op.getAxis()])
      return layout::planReduction(source, op.getAxis(), elementBitsOf(op.getSrcs())).bytes;
  return 0;
}

namespace {
struct ReduceScratch : ScratchOpInterface::ExternalModel<ReduceScratch, tt::ReduceOp> {
  Scratch getScratch(Operation *op) const { return Scratch::writtenOnce(reductionBytes(cast<tt::ReduceOp>(op))); }
};

struct ReduceRelation : LayoutRelationOpInterface::ExternalModel<ReduceRelation, tt::ReduceOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    auto reduce = cast<tt::ReduceOp>(op);
    const Type source = reduce.getSrcs().front().getType();
    LayoutRelation relation(op, source);
    relation.combinedAxis = reduce.getAxis();
    relation.uniteOperands(op);
    for (auto [link, result] : llvm::zip_equal(relation.results, op->getResults())) {
      link = {LayoutLink::Kind::FromOp, transferBetween(LayoutTransfer::Kind::Slice, source, result.getType())};
      link.transfer.axis = reduce.getAxis();
    }
    return relation;
  }
};
} // namespace

void ttg::addReduceRules(MLIRContext *context) {
  tt::ReduceOp::attachInterface<ReduceScratch, ReduceRelation>(*context);
}
