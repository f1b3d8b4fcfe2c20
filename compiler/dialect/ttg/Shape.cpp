// Verifies and folds convert_layout.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
using namespace nereid::ttg;

LogicalResult ConvertLayoutOp::verify() {
  for (Value value : {getSrc(), getResult()}) // C1
    if (!encodingOf(value.getType()))
      return emitOpError("type ") << value.getType() << " has no encoding";
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return SplatElementsAttr::get(cast<ShapedType>(getType()), splat.getSplatValue<Attribute>());
  if (auto inner = getSrc().getDefiningOp<ConvertLayoutOp>()) {
    setOperand(inner.getSrc());
    return getResult();
  }
  return {};
}
