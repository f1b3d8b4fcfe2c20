// #ttg.amd_mfma, #ttg.amd_wmma: the accumulators of AMD's matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/layout/AmdMatrix.h"
#include "compiler/dialect/ttg/Dialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

static LogicalResult verifyWarps(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> warpsPerCta) {
  if (warpsPerCta.size() < 2)
    return emitError() << "warpsPerCTA has " << warpsPerCta.size() << " dimensions; a dot has two or more";
  for (unsigned warps : warpsPerCta)
    if (!llvm::isPowerOf2_32(warps))
      return emitError() << "extent " << warps << " is not a power of two";
  return success();
}

//--- mfma ----------------------------------------------------------------------------------

LogicalResult AmdMfmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned version,
                                  ArrayRef<unsigned> warpsPerCta, ArrayRef<unsigned> instrShape, bool,
                                  unsigned elementBitWidth) {
  if (version < 1 || version > 4)
    return emitError() << "mfma of version " << version << " is not known; versions 1 to 4 are";
  const bool isKnown = instrShape.size() == 3 && instrShape[0] == instrShape[1] &&
                       (instrShape[0] == 16 || (instrShape[0] == 32 && elementBitWidth == 32)) &&
                       llvm::isPowerOf2_32(instrShape[2]);
  if (!isKnown)
    return emitError() << "instrShape of mfma is [16, 16, K] or, with elements of 32 bits, [32, 32, K], with K a power "
                          "of two";
  if (elementBitWidth != 32 && elementBitWidth != 64)
    return emitError() << "elementBitWidth is " << elementBitWidth << "; it is 32 or 64";
  return verifyWarps(emitError, warpsPerCta);
}

layout::AmdMatrixTile AmdMfmaAttr::getTile() const {
  return {.kind = getElementBitWidth() == 64 ? layout::AmdMatrix::MfmaF64 : layout::AmdMatrix::Mfma,
          .extent = getInstrShape()[0],
          .isTransposed = getIsTransposed()};
}

unsigned AmdMfmaAttr::getRank() const { return getWarpsPerCTA().size(); }

LinearLayout AmdMfmaAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::amdAccumulator(getTile(), getWarpsPerCTA(), shape);
}

LinearLayout AmdMfmaAttr::operandLayout(unsigned operand, unsigned kWidth, ArrayRef<int64_t> shape) const {
  return layout::amdOperand(getTile(), operand, kWidth, getWarpsPerCTA(), shape);
}

LinearLayout AmdMfmaAttr::scaleLayout(unsigned operand, ArrayRef<int64_t> shape) const {
  return layout::amdScale(getTile(), operand, getWarpsPerCTA(), shape);
}

//--- wmma ----------------------------------------------------------------------------------

LogicalResult AmdWmmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned version, bool,
                                  ArrayRef<unsigned> warpsPerCta) {
  if (version != 1 && version != 2)
    return emitError() << "wmma of version " << version << " is not known; versions 1 and 2 are";
  return verifyWarps(emitError, warpsPerCta);
}

layout::AmdMatrixTile AmdWmmaAttr::getTile() const {
  return {.kind = getVersion() == 1 ? layout::AmdMatrix::WmmaReplicated : layout::AmdMatrix::Wmma,
          .extent = 16,
          .isTransposed = getIsTranspose()};
}

unsigned AmdWmmaAttr::getRank() const { return getWarpsPerCTA().size(); }

LinearLayout AmdWmmaAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::amdAccumulator(getTile(), getWarpsPerCTA(), shape);
}

LinearLayout AmdWmmaAttr::operandLayout(unsigned operand, unsigned kWidth, ArrayRef<int64_t> shape) const {
  return layout::amdOperand(getTile(), operand, kWidth, getWarpsPerCTA(), shape);
}
