// #ttg.nvidia_mma: the accumulator of matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/layout/Mma.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LogicalResult NvidiaMmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned versionMajor,
                                    unsigned versionMinor, ArrayRef<unsigned> warpsPerCta,
                                    ArrayRef<unsigned> instrShape) {
  if (versionMajor != 2)
    return emitError() << "matrix instructions of version " << versionMajor << " are not known; version 2 is";
  if (warpsPerCta.size() < 2)
    return emitError() << "warpsPerCTA has " << warpsPerCta.size() << " dimensions; a product has two or more";
  for (unsigned warps : warpsPerCta)
    if (!llvm::isPowerOf2_32(warps))
      return emitError() << "extent " << warps << " is not a power of two";
  if (instrShape != ArrayRef<unsigned>{layout::kMmaRows, layout::kMmaColumns})
    return emitError() << "instrShape of version 2 is [16, 8]";
  return success();
}

unsigned NvidiaMmaAttr::getRank() const { return getWarpsPerCTA().size(); }

layout::LinearLayout NvidiaMmaAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::mmaAccumulator(getWarpsPerCTA(), shape);
}

LogicalResult NvidiaMmaAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                            function_ref<InFlightDiagnostic()> emitError) const {
  return verifyTile(emitError, *this, shape);
}
