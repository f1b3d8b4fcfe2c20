// Describes the iterations of loops op by op: the work of each, and what it waits for.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/LoopSchedule.h"

#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/explain/Timeline.h"
#include "compiler/lowering/UserPosition.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using explain::Action;
using explain::LoopOp;
using explain::Unit;

unsigned LoopDescription::barrierOf(Value barrier) {
  unsigned count = 1;
  while (auto index = barrier.getDefiningOp<ttg::MemDescIndexOp>()) {
    barrier = index.getSrc();
    count = cast<ttg::MemDescType>(barrier.getType()).getShape().front();
  }
  auto [entry, isNew] = barriers.try_emplace(barrier, loop.barriers.size());
  if (isNew)
    loop.barriers.push_back({count});
  return entry->second;
}

void LoopDescription::addWork(Operation *op, Action action) {
  explain::Loop::Part &part = loop.parts.back();
  OpCost cost = costs.of(op);
  if (cost.unit == Unit::None || cost.cycles == 0)
    return;
  LoopOp work{lowering::userPosition(op->getLoc()).line, std::move(cost.label), cost.unit, cost.cycles, action};
  LoopOp *last = part.ops.empty() ? nullptr : &part.ops.back();
  if (last && action == Action::None && last->action == action && last->line == work.line && last->unit == work.unit)
    last->cycles += work.cycles;
  else
    part.ops.push_back(std::move(work));
}

void LoopDescription::act(Action action, unsigned number, unsigned barrier) {
  loop.parts.back().ops.push_back({0, "", Unit::None, 0, action, number, barrier});
}

void LoopDescription::addOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ttg::AsyncCopyGlobalToLocalOp) { addWork(op, Action::Start); })
      .Case([&](ttg::AsyncCommitGroupOp) { act(Action::Commit, 0); })
      .Case([&](ttg::AsyncWaitOp wait) { act(Action::WaitGroups, wait.getNum()); })
      .Case([&](tt::LoadOp) { addWork(op, isPrefetchedLoad(op) ? Action::Prefetch : Action::Load); })
      .Default([&](Operation *other) { addWork(other, Action::None); });
}

void LoopDescription::addPart(Operation *op, unsigned role, OwnOps addOwn) {
  loop.parts.push_back({role, {}});
  op->walk([&](Operation *inner) {
    if (inner != op && !(addOwn && addOwn(inner, *this)))
      addOp(inner);
  });
}

void LoopDescription::finish() {
  auto signals = [](const LoopOp &op) { return op.action == Action::Signal || op.action == Action::SignalCopy; };
  auto partOf = [&](unsigned barrier, auto matches) {
    return llvm::find_if(loop.parts,
                         [&](const explain::Loop::Part &part) {
                           return llvm::any_of(part.ops,
                                               [&](const LoopOp &op) { return op.barrier == barrier && matches(op); });
                         }) -
           loop.parts.begin();
  };
  for (unsigned barrier = 0; barrier < loop.barriers.size(); ++barrier) {
    const size_t signaller = partOf(barrier, signals);
    const size_t waiter = partOf(barrier, [](const LoopOp &op) { return op.action == Action::Wait; });
    const bool isByThreads =
        signaller < loop.parts.size() &&
        llvm::any_of(
            loop.parts[signaller].ops,
            [&](const LoopOp &op) { return op.barrier == barrier && op.action == Action::Signal; });
    // Buffers are empty at first. Copies of a pipelined loop have begun before it.
    if (!isByThreads)
      loop.barriers[barrier].initialPhases = signaller == waiter ? loop.iterationsAhead : 0;
    bool seen = false; // of copies that share a phase, the last one completes it
    for (explain::Loop::Part &part : loop.parts)
      for (size_t index = part.ops.size(); index-- > 0;) {
        const LoopOp op = part.ops[index];
        const bool isRepeated = op.action == Action::SignalCopy && op.barrier == barrier && std::exchange(seen, true);
        const bool isOutside =
            op.action == Action::Wait && op.barrier == barrier && signaller == loop.parts.size(); // set outside of it
        if (isRepeated || isOutside)
          part.ops.erase(part.ops.begin() + index);
      }
  }
}

static bool isInnermost(Operation *loop) {
  auto isInner = [&](LoopLikeOpInterface inner) {
    return inner == loop ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !loop->walk(isInner).wasInterrupted();
}

static unsigned countCommits(Operation *loop) {
  unsigned count = 0;
  loop->walk([&](ttg::AsyncCommitGroupOp) { ++count; });
  return count;
}

/// The loops of one line, in different roles, are one.
static SmallVector<DescribedLoop> findLoops(ModuleOp module) {
  SmallVector<DescribedLoop> found;
  module.walk<WalkOrder::PreOrder>([&](LoopLikeOpInterface loop) {
    if (!isInnermost(loop))
      return;
    const explain::Position at = userPosition(loop.getLoc());
    auto same = llvm::find_if(found, [&](const DescribedLoop &other) {
      const auto isSameRole = [&](Operation *op) { return roleOf(op) == roleOf(loop); };
      return other.at == at && llvm::none_of(other.loops, isSameRole);
    });
    if (same == found.end())
      found.push_back({at, {loop}});
    else
      same->loops.push_back(loop);
  });
  return found;
}

SmallVector<DescribedLoop> lowering::describeLoops(ModuleOp module, const OpCostModel &costs, OwnOps addOwn) {
  SmallVector<DescribedLoop> found = findLoops(module);
  for (DescribedLoop &described : found) {
    explain::Loop &iteration = described.iteration;
    iteration.at = described.at;
    Operation *first = described.loops.front();
    auto ahead = first->getAttrOfType<IntegerAttr>(tt::kScheduledStage);
    if (ahead && described.loops.size() == 1)
      iteration.iterationsAhead = ahead.getInt();
    iteration.groupsAhead = iteration.iterationsAhead * countCommits(first);
    LoopDescription description(costs, iteration);
    for (Operation *loop : described.loops)
      description.addPart(loop, roleOf(loop), addOwn);
    description.finish();
  }
  return found;
}

IterationCycles lowering::iterationCycles(ModuleOp module, const OpCostModel &costs, OwnOps addOwn) {
  IterationCycles cycles;
  for (const DescribedLoop &described : describeLoops(module, costs, addOwn)) {
    const uint64_t ofOne = explain::timelineOf(described.iteration).cyclesPerIteration;
    for (Operation *loop : described.loops)
      cycles[loop] = ofOne;
  }
  return cycles;
}
