// #ttg.nvidia_mma: the accumulator of matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Mma.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

static LogicalResult verifyWarpGroups(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> warpsPerCta,
                                      ArrayRef<unsigned> instrShape) {
  if (warpsPerCta.size() != 2 || llvm::product_of(warpsPerCta) % layout::kWarpsPerWarpGroup)
    return emitError() << "warpsPerCTA of version 3 has two dimensions, and warps in groups of 4";
  const bool isKnown = instrShape.size() == 3 && instrShape[0] == layout::kMmaRows && instrShape[1] >= 8 &&
                       instrShape[1] <= layout::kMaxWarpGroupColumns && llvm::isPowerOf2_32(instrShape[1]) &&
                       llvm::is_contained({8u, 16u, 32u}, instrShape[2]);
  if (!isKnown)
    return emitError() << "instrShape of version 3 is [16, N, K] with N a power of two from 8 to 256 and K 8, 16 or 32";
  return success();
}

LogicalResult NvidiaMmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned versionMajor,
                                    unsigned versionMinor, ArrayRef<unsigned> warpsPerCta,
                                    ArrayRef<unsigned> instrShape) {
  if (versionMajor != 2 && versionMajor != 3)
    return emitError() << "matrix instructions of version " << versionMajor << " are not known; versions 2 and 3 are";
  if (warpsPerCta.size() < 2)
    return emitError() << "warpsPerCTA has " << warpsPerCta.size() << " dimensions; a dot has two or more";
  for (unsigned warps : warpsPerCta)
    if (!llvm::isPowerOf2_32(warps))
      return emitError() << "extent " << warps << " is not a power of two";
  if (versionMajor == 3)
    return verifyWarpGroups(emitError, warpsPerCta, instrShape);
  if (instrShape != ArrayRef<unsigned>{layout::kMmaRows, layout::kMmaColumns})
    return emitError() << "instrShape of version 2 is [16, 8]";
  return success();
}

bool NvidiaMmaAttr::isWgmma() const { return getVersionMajor() == 3; }

unsigned NvidiaMmaAttr::getRank() const { return getWarpsPerCTA().size(); }

layout::LinearLayout NvidiaMmaAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return isWgmma() ? layout::warpGroupAccumulator(getInstrShape()[1], getWarpsPerCTA(), shape)
                   : layout::mmaAccumulator(getWarpsPerCTA(), shape);
}

layout::LinearLayout NvidiaMmaAttr::operandLayout(unsigned operand, unsigned kWidth, ArrayRef<int64_t> shape) const {
  return isWgmma() ? layout::warpGroupOperand(kWidth, getWarpsPerCTA(), shape)
                   : layout::mmaOperand(operand, kWidth, getWarpsPerCTA(), shape);
}

LogicalResult NvidiaMmaAttr::verifyOperand(unsigned operand, function_ref<InFlightDiagnostic()> emitError) const {
  if (isWgmma() && operand != 0)
    return emitError() << "operand 1 of wgmma is in shared memory; threads can hold operand 0";
  return success();
}
