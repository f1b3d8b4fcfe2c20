// Rules of scans.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"

using namespace mlir;
using namespace nereid::tt;

LogicalResult ScanOp::verify() {
  if (getSrcs().empty())
    return emitOpError("has no operand");
  auto first = cast<RankedTensorType>(getSrcs().front().getType());
  for (Value source : getSrcs()) { // C1
    auto tile = cast<RankedTensorType>(source.getType());
    if (tile.getShape() != first.getShape())
      return emitOpError("operands have different shapes");
    if (tile.getEncoding() != first.getEncoding())
      return emitOpError("operands have different encodings");
  }
  const int64_t axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= first.getRank())
    return emitOpError("axis ") << axis << " is outside [0, " << first.getRank() << ")";
  if (getSrcs().getTypes() != getResults().getTypes()) // C3
    return emitOpError("results do not have the operands' types");
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  Block &body = getCombine().front();
  SmallVector<Type> elements;
  for (Value source : getSrcs())
    elements.push_back(elementOf(source.getType()));
  SmallVector<Type> expected(elements);
  expected.append(elements);
  if (!llvm::equal(body.getArgumentTypes(), expected)) // C2
    return emitOpError("combine region must take two scalars of each operand's element type");
  auto end = dyn_cast<ScanReturnOp>(body.getTerminator());
  if (!end || !llvm::equal(end.getValues().getTypes(), elements))
    return emitOpError("combine region must return one scalar of each operand's element type");
  return success();
}

/// One element has nothing before it.
LogicalResult ScanOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getSrcs().empty() || shapeOf(getSrcs().front().getType())[getAxis()] != 1)
    return failure();
  results.append(getSrcs().begin(), getSrcs().end());
  return success();
}
