// #ttg.swizzled_shared: rows in shared memory whose vectors are permuted by XOR with the row.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/ListText.h"
#include "compiler/layout/Distributed.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

LogicalResult SwizzledSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned vec, unsigned perPhase,
                                         unsigned maxPhase, ArrayRef<unsigned> order) {
  for (unsigned number : {vec, perPhase, maxPhase})
    if (!llvm::isPowerOf2_32(number))
      return emitError() << "vec, perPhase and maxPhase must be powers of two; " << number << " is not";
  if (order.empty())
    return emitError() << "order is empty";
  return verifyOrder(emitError, order);
}

unsigned SwizzledSharedAttr::getRank() const { return getOrder().size(); }
bool SwizzledSharedAttr::isDistributed() const { return false; }

LinearLayout SwizzledSharedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  const unsigned columns = getOrder()[0], rows = getRank() > 1 ? getOrder()[1] : columns;
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {}}, {layout::kBlock.str(), {}}};
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  for (unsigned dim : getOrder())
    for (int64_t step = 1; step < shape[dim]; step *= 2) {
      LinearLayout::Coordinates basis(getRank(), 0);
      basis[dim] = step;
      // The vectors of row r are permuted by r's phase: a bit of the row also moves the column.
      if (dim == rows && rows != columns)
        basis[columns] = step / getPerPhase() % getMaxPhase() * getVec() & (shape[columns] - 1);
      inputs[0].bases.push_back(basis);
    }
  return LinearLayout::fromBases(inputs, outputs);
}

LogicalResult SwizzledSharedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                                 function_ref<InFlightDiagnostic()> emitError) const {
  return verifyTile(emitError, *this, shape);
}
