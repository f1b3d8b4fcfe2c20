// Relaxes the barriers at the end of exchanges between CTAs.
//
// After its reads an exchange needs a barrier of the cluster, before its buffer is written again and before a CTA
// exits. A later op of the same basic block with a barrier is on every path to both. At that of the kernel's last
// exchange the threads only arrive, and they wait when all else is done.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/clusters/ClusterHazards.h"

#include "compiler/target/nvidia/dialect/Dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

static bool hasBarrier(Operation *op) {
  return isa<ttng::ClusterBarrierOp, ttng::ClusterGatherOp, ttng::ClusterBroadcastOp>(op);
}

static bool containsBarrier(Operation *op) {
  auto isBarrier = [](Operation *inner) { return hasBarrier(inner) ? WalkResult::interrupt() : WalkResult::advance(); };
  return op->walk(isBarrier).wasInterrupted();
}

template <typename Op> static void relax(Op exchange, tt::FuncOp function) {
  Block *block = exchange->getBlock();
  bool isLast = block == &function.getBody().front();
  for (Operation *next = exchange->getNextNode(); next; next = next->getNextNode()) {
    if (hasBarrier(next))
      return exchange.setOpen(true);
    isLast &= !containsBarrier(next);
  }
  if (!isLast)
    return;
  exchange.setArrives(true);
  OpBuilder builder(block->getTerminator());
  ttng::ClusterWaitOp::create(builder, exchange.getLoc());
}

void nvidia::relaxExchanges(tt::FuncOp function) {
  function.walk([&](Operation *op) {
    if (auto gather = dyn_cast<ttng::ClusterGatherOp>(op))
      relax(gather, function);
    else if (auto broadcast = dyn_cast<ttng::ClusterBroadcastOp>(op))
      relax(broadcast, function);
  });
}
