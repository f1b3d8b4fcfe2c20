// #ttg.slice: another encoding with one dimension removed, as a reduction leaves it.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Distributed.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LogicalResult SliceAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned dim, LayoutEncoding parent) {
  if (!parent.isDistributed())
    return emitError() << "the parent of a slice is an encoding of shared memory";
  if (parent.getRank() < 2)
    return emitError() << "a slice of an encoding of one dimension has none";
  if (dim >= parent.getRank())
    return emitError() << "dimension " << dim << " is outside [0, " << parent.getRank() << ")";
  return success();
}

unsigned SliceAttr::getRank() const { return getParent().getRank() - 1; }

layout::LinearLayout SliceAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  // The layout along the other dimensions does not depend on the extent of the removed one.
  SmallVector<int64_t> whole(shape);
  whole.insert(whole.begin() + getDim(), 1);
  return layout::sliceLayout(getParent().toLinearLayout(whole), getDim());
}
