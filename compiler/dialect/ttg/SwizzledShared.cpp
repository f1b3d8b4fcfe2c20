// #ttg.swizzled_shared, #ttg.amd_rotating_shared: rows in shared memory whose vectors are permuted by XOR with the row.
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

static LogicalResult verifySwizzle(function_ref<InFlightDiagnostic()> emitError, unsigned vec, unsigned perPhase,
                                   unsigned maxPhase, ArrayRef<unsigned> order) {
  for (unsigned number : {vec, perPhase, maxPhase})
    if (!llvm::isPowerOf2_32(number))
      return emitError() << "vec, perPhase and maxPhase must be powers of two; " << number << " is not";
  if (order.empty())
    return emitError() << "order is empty";
  return verifyOrder(emitError, order);
}

/// The vectors of row r are permuted by its phase, which is linear in the bits of r: a bit of the row also moves the
/// column.
static LinearLayout swizzledLayout(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, unsigned vec,
                                   llvm::function_ref<uint32_t(uint32_t row)> phaseOf) {
  const unsigned rank = order.size(), columns = order[0], rows = rank > 1 ? order[1] : columns;
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {}}, {layout::kBlock.str(), {}}};
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  for (unsigned dim : order)
    for (int64_t step = 1; step < shape[dim]; step *= 2) {
      LinearLayout::Coordinates basis(rank, 0);
      basis[dim] = step;
      if (dim == rows && rows != columns)
        basis[columns] = phaseOf(step) * vec & (shape[columns] - 1);
      inputs[0].bases.push_back(basis);
    }
  return LinearLayout::fromBases(inputs, outputs);
}

//--- swizzled ------------------------------------------------------------------------------

LogicalResult SwizzledSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned vec, unsigned perPhase,
                                         unsigned maxPhase, ArrayRef<unsigned> order, ArrayRef<unsigned> cgaLayout) {
  if (failed(verifySwizzle(emitError, vec, perPhase, maxPhase, order)))
    return failure();
  return verifyClusterSplit(emitError, cgaLayout, order.size());
}

unsigned SwizzledSharedAttr::getRank() const { return getOrder().size(); }
bool SwizzledSharedAttr::isDistributed() const { return false; }

LinearLayout SwizzledSharedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  const SmallVector<int64_t> partShape = shapeOfCta(shape, getCgaLayout());
  const LinearLayout part = swizzledLayout(partShape, getOrder(), getVec(),
                                           [&](uint32_t row) { return row / getPerPhase() % getMaxPhase(); });
  return getCgaLayout().empty() ? part : splitByCluster(part, getCgaLayout(), partShape);
}

//--- rotating ------------------------------------------------------------------------------

LogicalResult AmdRotatingSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned vec,
                                            unsigned perPhase, unsigned maxPhase, ArrayRef<unsigned> order) {
  return verifySwizzle(emitError, vec, perPhase, maxPhase, order);
}

unsigned AmdRotatingSharedAttr::getRank() const { return getOrder().size(); }
bool AmdRotatingSharedAttr::isDistributed() const { return false; }

LinearLayout AmdRotatingSharedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return swizzledLayout(shape, getOrder(), getVec(), [&](uint32_t row) {
    return (row / getPerPhase() % getMaxPhase()) ^ (row / getMaxPhase() % getMaxPhase());
  });
}
