// #ttg.dot_op: an operand of a dot whose result has the parent encoding.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
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
  auto matrix = dyn_cast<MatrixEncoding>(parent);
  if (matrix ? !llvm::isPowerOf2_32(kWidth) : kWidth != 0)
    return emitError() << "kWidth is " << kWidth
                       << (kWidth ? "; it is a power of two, and stands with matrix instructions alone"
                                  : "; matrix instructions need one");
  return matrix ? matrix.verifyOperand(opIdx, emitError) : success();
}

bool ttg::isMatrixInstruction(Attribute encoding) { return isa_and_nonnull<MatrixEncoding>(encoding); }

unsigned DotOperandAttr::getRank() const { return getParent().getRank(); }

layout::LinearLayout DotOperandAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  if (auto matrix = dyn_cast<MatrixEncoding>(getParent()))
    return matrix.operandLayout(getOpIdx(), getKWidth(), shape);
  SmallVector<int64_t> accumulator(shape);
  int64_t &extent = accumulator[shape.size() - (getOpIdx() == 0 ? 1 : 2)];
  const int64_t k = std::exchange(extent, 1);
  return layout::fmaOperand(getParent().toLinearLayout(accumulator), getOpIdx(), k);
}
