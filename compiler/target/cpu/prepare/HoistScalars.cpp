// Computes scalars before a loop with dots that would be computed after it: the addresses of the stores that follow are
// known in the loop, which prefetches what they write (emit/Prefetches.cpp).
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/prepare/HoistScalars.h"

#include "compiler/target/cpu/prepare/Passes.h"

namespace nereid::cpu {
#define GEN_PASS_DEF_HOISTSCALARS
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;

static bool canMoveBefore(Operation &op, Operation *loop) {
  return op.getNumRegions() == 0 && op.getNumResults() != 0 && isPure(&op) &&
         llvm::none_of(op.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); }) &&
         llvm::all_of(op.getOperands(), [&](Value operand) { return cpu::isDefinedBefore(operand, loop); });
}

namespace {
struct HoistScalars : cpu::impl::HoistScalarsBase<HoistScalars> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      if (loop.getBody()->getOps<tt::DotOp>().empty())
        return;
      for (Operation *op = loop->getNextNode(); op;) {
        Operation *next = op->getNextNode();
        if (canMoveBefore(*op, loop))
          op->moveBefore(loop);
        op = next;
      }
    });
  }
};
} // namespace
