// #ttg.nvmma_shared: a matrix in shared memory as matrix instructions and TMA copies read it.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/MatrixBuffer.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LogicalResult NvmmaSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned swizzlingByteWidth, bool,
                                      unsigned elementBitWidth, unsigned rank) {
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzlingByteWidth))
    return emitError() << "swizzlingByteWidth is " << swizzlingByteWidth << "; it is 0, 32, 64 or 128";
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, elementBitWidth))
    return emitError() << "elementBitWidth is " << elementBitWidth << "; it is 8, 16, 32 or 64";
  if (rank < 2)
    return emitError() << "rank is " << rank << "; a matrix has two dimensions or more";
  return success();
}

bool NvmmaSharedAttr::isDistributed() const { return false; }

static layout::MatrixBuffer bufferOf(NvmmaSharedAttr encoding) {
  return {encoding.getSwizzlingByteWidth(), encoding.getElementBitWidth(), encoding.getTransposed()};
}

unsigned NvmmaSharedAttr::alignmentBytes() const { return bufferOf(*this).alignmentBytes(); }

layout::LinearLayout NvmmaSharedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::matrixBufferLayout(bufferOf(*this), shape);
}

LogicalResult NvmmaSharedAttr::verifyBuffer(ArrayRef<int64_t> shape, Type element,
                                            function_ref<InFlightDiagnostic()> emitError) const {
  const unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != getElementBitWidth())
    return emitError() << "elementBitWidth is " << getElementBitWidth() << ", but the buffer holds " << element;
  const unsigned panel = bufferOf(*this).panelBytes(), along = shape.size() - (getTransposed() ? 2 : 1);
  if (const int64_t bytes = tt::storageBytes(element, shape[along]); bytes < panel)
    return emitError() << "dimension " << along << " of the buffer has " << bytes << " bytes; a panel has " << panel;
  return success();
}
