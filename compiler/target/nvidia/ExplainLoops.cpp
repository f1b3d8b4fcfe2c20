// Adds TMA, barriers and warp-group dots to the schedules of loops.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/LoopSchedule.h"
#include "compiler/target/nvidia/Explain.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using explain::Action;

static bool addOwn(Operation *op, lowering::LoopDescription &loop) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ttng::AsyncTmaCopyGlobalToLocalOp copy) {
        loop.addWork(op, Action::Start);
        loop.act(Action::SignalCopy, 0, loop.barrierOf(copy.getBarrier()));
        return true;
      })
      .Case([&](ttng::AsyncCopyMbarrierArriveOp arrive) {
        loop.act(Action::SignalCopy, 0, loop.barrierOf(arrive.getBarrier()));
        return true;
      })
      .Case([&](ttng::ArriveBarrierOp arrive) {
        loop.act(Action::Signal, 0, loop.barrierOf(arrive.getBarrier()));
        return true;
      })
      .Case([&](ttng::WaitBarrierOp wait) {
        loop.act(Action::Wait, 0, loop.barrierOf(wait.getBarrier()));
        return true;
      })
      .Case([&](ttng::WarpGroupDotOp dot) {
        loop.addWork(op, dot.getIsAsync() ? Action::Start : Action::None);
        return true;
      })
      .Case([&](ttng::WarpGroupDotWaitOp wait) {
        loop.act(Action::WaitDots, wait.getPendings());
        return true;
      })
      .Default([](Operation *) { return false; });
}

void nvidia::explainLoops(const CudaKernel &kernel, const OpCosts &costs, explain::Explanation &explanation) {
  for (lowering::DescribedLoop &described : lowering::describeLoops(kernel.module, costs, addOwn))
    explanation.loops.push_back(std::move(described.iteration));
}

lowering::IterationCycles nvidia::iterationCycles(const CudaKernel &kernel, const OpCosts &costs) {
  return lowering::iterationCycles(kernel.module, costs, addOwn);
}
