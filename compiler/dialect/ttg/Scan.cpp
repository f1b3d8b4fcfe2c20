// States the scratch memory of scans and relates their layouts.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Scan.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

static Scratch scratchOf(tt::ScanOp op) {
  auto tile = cast<RankedTensorType>(op.getSrcs().front().getType());
  if (!encodingOf(tile) || !layout::isScannable(linearLayoutOf(tile), op.getAxis()))
    return {};
  const layout::ScanPlan plan = layout::planScan(linearLayoutOf(tile), op.getAxis(), elementBitsOf(op.getSrcs()));
  return {plan.bytes, plan.barriers()};
}

namespace {
struct ScanScratch : ScratchOpInterface::ExternalModel<ScanScratch, tt::ScanOp> {
  Scratch getScratch(Operation *op) const { return scratchOf(cast<tt::ScanOp>(op)); }
};

struct ScanRelation : LayoutRelationOpInterface::ExternalModel<ScanRelation, tt::ScanOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    auto scan = cast<tt::ScanOp>(op);
    LayoutRelation relation(op, scan.getSrcs().front().getType());
    relation.combinedAxis = scan.getAxis();
    relation.uniteOperands(op);
    relation.uniteResults(op);
    return relation;
  }

  /// Each bit along the axis needs a holder of its own.
  bool worksIn(Operation *op, LayoutEncoding layout) const {
    auto scan = cast<tt::ScanOp>(op);
    return layout::isScannable(layout.toLinearLayout(tt::shapeOf(scan.getSrcs().front().getType())), scan.getAxis());
  }
};
} // namespace

void ttg::addScanRules(MLIRContext *context) { tt::ScanOp::attachInterface<ScanScratch, ScanRelation>(*context); }
