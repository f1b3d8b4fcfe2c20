// #ttg.dot_op: an operand of a dot whose result has the parent encoding.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/layout/Mma.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LogicalResult DotOperandAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned opIdx,
                                     LayoutEncoding parent, unsigned kWidth) {
  if (opIdx > 1)
    return emitError() << "opIdx is " << opIdx << "; it is 0 or 1";
  if (!parent.isDistributed() || parent.getRank() < 2)
    return emitError() << "the parent of an operand is held by threads and has two dimensions or more";
  if (isa<NvidiaMmaAttr>(parent) ? !llvm::isPowerOf2_32(kWidth) : kWidth != 0)
    return emitError() << "kWidth is " << kWidth
                       << (kWidth ? "; it is a power of two, and stands with matrix instructions alone"
                                  : "; matrix instructions need one");
  if (auto mma = dyn_cast<NvidiaMmaAttr>(parent); mma && mma.isWgmma() && opIdx != 0)
    return emitError() << "operand 1 of wgmma is in shared memory; threads can hold operand 0";
  return success();
}

unsigned DotOperandAttr::getRank() const { return getParent().getRank(); }

layout::LinearLayout DotOperandAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  if (auto mma = dyn_cast<NvidiaMmaAttr>(getParent()); mma && mma.isWgmma())
    return layout::warpGroupOperand(getKWidth(), mma.getWarpsPerCTA(), shape);
  else if (mma)
    return layout::mmaOperand(getOpIdx(), getKWidth(), mma.getWarpsPerCTA(), shape);
  SmallVector<int64_t> accumulator(shape);
  int64_t &extent = accumulator[shape.size() - (getOpIdx() == 0 ? 1 : 2)];
  const int64_t k = std::exchange(extent, 1);
  return layout::fmaOperand(getParent().toLinearLayout(accumulator), getOpIdx(), k);
}

LogicalResult DotOperandAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                             function_ref<InFlightDiagnostic()> emitError) const {
  return verifyTile(emitError, *this, shape);
}
