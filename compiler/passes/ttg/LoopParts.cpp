// Emits comparisons of loops' bounds, and prepares blocks for new bodies.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/LoopParts.h"

using namespace mlir;
using namespace nereid;

arith::CmpIPredicate ttg::comparisonOf(scf::ForOp loop) {
  return loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
}

Value ttg::hasIteration(OpBuilder &builder, scf::ForOp loop) {
  return arith::CmpIOp::create(builder, loop.getLoc(), comparisonOf(loop), loop.getLowerBound(), loop.getUpperBound());
}

void ttg::eraseTerminator(Block &block) {
  if (!block.empty())
    block.getTerminator()->erase();
}

void ttg::forEachOperand(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
}
