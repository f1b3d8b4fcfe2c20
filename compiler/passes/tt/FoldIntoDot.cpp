// Makes the addend of a dot its accumulator.
// SPDX-License-Identifier: MIT
//
//   %p = tt.dot %a, %b, %zero
//   %s = arith.addf %p, %x         ->     %s = tt.dot %a, %b, %x
//
// Integers wrap the same way in either order. For floats the order of additions changes and one rounding is saved:
// allowed where a multiplication and an addition may be fused.
#include "compiler/passes/tt/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

namespace nereid::tt {
#define GEN_PASS_DEF_FOLDINTODOT
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid::tt;

/// The dot that is the sum's operand `index`, starts from zero and has no other use.
static DotOp foldable(Operation *sum, unsigned index) {
  auto dot = sum->getOperand(index).getDefiningOp<DotOp>();
  if (!dot || !dot->hasOneUse() || dot->getBlock() != sum->getBlock() || dot.getMaxNumImpreciseAcc() != 0)
    return {};
  return matchPattern(dot.getC(), m_AnyZeroFloat()) || matchPattern(dot.getC(), m_Zero()) ? dot : DotOp();
}

static bool fold(Operation *sum) {
  for (unsigned index = 0; index < 2; ++index)
    if (DotOp dot = foldable(sum, index)) {
      dot.getCMutable().assign(sum->getOperand(1 - index));
      dot->moveBefore(sum); // after the addend's definition
      sum->getResult(0).replaceAllUsesWith(dot.getD());
      sum->erase();
      return true;
    }
  return false;
}

namespace {
struct FoldIntoDot : nereid::tt::impl::FoldIntoDotBase<FoldIntoDot> {
  using FoldIntoDotBase::FoldIntoDotBase;
  void runOnOperation() final {
    SmallVector<Operation *> additions;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::AddIOp>(op) || (fusesFloats && isa<arith::AddFOp>(op)))
        additions.push_back(op);
    });
    for (Operation *sum : additions)
      numFolded += fold(sum);
  }
};
} // namespace
