// States the scratch memory of scans and relates their layouts.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Scan.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

static uint32_t scanBytes(tt::ScanOp op) {
  auto tile = cast<RankedTensorType>(op.getSrcs().front().getType());
  if (!encodingOf(tile))
    return 0;
  const layout::LinearLayout &layout = linearLayoutOf(tile);
  return layout::isScannable(layout, op.getAxis())
             ? layout::planScan(layout, op.getAxis(), elementBitsOf(op.getSrcs())).bytes
             : 0;
}

namespace {
struct ScanScratch : ScratchOpInterface::ExternalModel<ScanScratch, tt::ScanOp> {
  Scratch getScratch(Operation *op) const { return Scratch::writtenOnce(scanBytes(cast<tt::ScanOp>(op))); }
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
