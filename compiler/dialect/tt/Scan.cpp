// Verifies and folds scans.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Combine.h"
#include "compiler/dialect/tt/Rules.h"

using namespace mlir;
using namespace nereid::tt;

LogicalResult ScanOp::verify() {
  if (failed(verifyCombined(*this, getSrcs()))) // C1
    return failure();
  auto first = cast<RankedTensorType>(getSrcs().front().getType());
  if (failed(checkAxis(static_cast<int32_t>(getAxis()), first.getRank(), 0, OpReporter(*this))))
    return failure();
  if (getSrcs().getTypes() != getResults().getTypes()) // C3
    return emitOpError("results do not have the operands' types");
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  Block &body = getCombine().front();
  return verifyCombineRegion(*this, getSrcs(), body, dyn_cast<ScanReturnOp>(body.getTerminator())); // C2
}

/// A scan over one element is the identity.
LogicalResult ScanOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getSrcs().empty() || shapeOf(getSrcs().front().getType())[getAxis()] != 1)
    return failure();
  results.append(getSrcs().begin(), getSrcs().end());
  return success();
}
