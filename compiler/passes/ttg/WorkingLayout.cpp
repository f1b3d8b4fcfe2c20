// Chooses layouts in which scans can work.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/WorkingLayout.h"

#include "compiler/layout/Scan.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LayoutEncoding ttg::workingLayout(tt::ScanOp scan, LayoutEncoding ofClass,
                                  llvm::function_ref<LayoutEncoding(RankedTensorType)> plain) {
  auto tile = cast<RankedTensorType>(scan.getSrcs().front().getType());
  return layout::isScannable(ofClass.toLinearLayout(tile.getShape()), scan.getAxis()) ? ofClass : plain(tile);
}
