// Implements the checks that all encodings share.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/EncodingShape.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;

LogicalResult ttg::verifyOrder(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> order) {
  llvm::SmallBitVector seen(order.size());
  for (unsigned dim : order) {
    if (dim >= order.size() || seen[dim])
      return emitError() << "order is not a permutation of " << order.size() << " dimensions";
    seen.set(dim);
  }
  return success();
}

LogicalResult ttg::verifyTile(function_ref<InFlightDiagnostic()> emitError, LayoutEncoding encoding,
                              ArrayRef<int64_t> shape) {
  if (!encoding.isDistributed())
    return emitError() << "a tile held by threads cannot have the encoding of shared memory";
  if (encoding.getRank() != shape.size())
    return emitError() << "an encoding of " << encoding.getRank() << " dimensions is on a tile of " << shape.size();
  for (int64_t extent : shape)
    if (extent <= 0 || !llvm::isPowerOf2_64(extent))
      return emitError() << "extent " << extent << " of a tile with an encoding is not a power of two";
  return success();
}

SmallVector<unsigned> ttg::lastDimFirst(unsigned rank) {
  return llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank)));
}
