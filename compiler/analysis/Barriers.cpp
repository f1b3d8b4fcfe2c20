// Follows what was touched since the last barrier, around loops until nothing is added.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/Barriers.h"

#include "compiler/analysis/GatherPlan.h"
#include "compiler/analysis/GlobalEffects.h"
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttg/AsyncTraits.h"
#include "compiler/layout/Conversion.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

namespace {
struct Touch {
  SharedRange range;
  bool writes = false;
  /// A copy that is under way: by its rules nothing that comes before its wait touches the same elements.
  bool isPending = false;
  bool operator==(const Touch &) const = default;
  bool conflictsWith(const Touch &other) const {
    return !isPending && range.overlaps(other.range) && (writes || other.writes);
  }
};
/// Since the last barrier, by any thread.
struct Touches {
  SmallVector<Touch, 4> shared;
  bool accessesGlobal = false; ///< which a thread that releases answers for, reads included
  bool acquires = false;     ///< which all threads that read must wait for

  /// Leaves what a barrier does not end.
  void meet() {
    llvm::erase_if(shared, [](const Touch &touch) { return !touch.isPending; });
    accessesGlobal = acquires = false;
  }
};

class Planner {
public:
  explicit Planner(const SharedMemoryPlan &memory) : memory(memory) {}

  void visitBlock(Block &block, Touches &open);
  BarrierPlan plan;

private:
  void visit(Operation &op, Touches &open);
  void visitLoop(LoopLikeOpInterface loop, Touches &open);
  void touch(Operation &op, Touches &open, ArrayRef<Touch> next);
  void touchOperands(Operation &op, Touches &open);
  void touchGlobal(Operation &op, Touches &open);
  void wait(Operation &op, Touches &open);
  SharedRange rangeOf(Value buffer) const;

  const SharedMemoryPlan &memory;
};
} // namespace

/// Adds what is new; true where something was.
static bool merge(Touches &into, const Touches &from) {
  const size_t before = into.shared.size();
  for (const Touch &touch : from.shared)
    if (!llvm::is_contained(into.shared, touch))
      into.shared.push_back(touch);
  const bool isNew = (from.accessesGlobal && !into.accessesGlobal) || (from.acquires && !into.acquires);
  into.accessesGlobal |= from.accessesGlobal;
  into.acquires |= from.acquires;
  return isNew || into.shared.size() != before;
}

void Planner::wait(Operation &op, Touches &open) {
  plan.needsBarrierBefore.insert(&op);
  open.meet();
}

void Planner::touchGlobal(Operation &op, Touches &open) {
  const GlobalEffects effects = globalEffectsOf(op);
  if (!effects.reads && !effects.writes)
    return;
  if (open.acquires || (open.accessesGlobal && effects.releases))
    wait(op, open);
  open.accessesGlobal = true;
  open.acquires |= effects.acquires;
}

/// The allocation's bytes; all bytes where a buffer comes from several places.
SharedRange Planner::rangeOf(Value buffer) const {
  auto allocation = ttg::allocationOf(buffer);
  return allocation ? memory.rangeOf(allocation) : SharedRange{0, memory.bytes};
}

static bool conflict(const Touches &open, ArrayRef<Touch> next) {
  return llvm::any_of(open.shared, [&](const Touch &earlier) {
    return llvm::any_of(next, [&](const Touch &touch) { return earlier.conflictsWith(touch); });
  });
}

void Planner::touch(Operation &op, Touches &open, ArrayRef<Touch> next) {
  if (conflict(open, next))
    wait(op, open);
  merge(open, {llvm::to_vector<4>(next)});
}

/// The buffers that an op reads or writes by its operands.
void Planner::touchOperands(Operation &op, Touches &open) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || !llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<ttg::MemDescType>(type); }))
    return;
  SmallVector<MemoryEffects::EffectInstance, 4> effects;
  interface.getEffects(effects);
  SmallVector<Touch, 4> next;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value buffer = effect.getValue();
    if (buffer && isa<ttg::MemDescType>(buffer.getType()) &&
        isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      next.push_back({rangeOf(buffer), isa<MemoryEffects::Write>(effect.getEffect())});
  }
  if (next.empty())
    return;
  // What such an op starts ends before threads go on from a wait: it must follow others' accesses, and nothing must follow it.
  if (!op.hasTrait<ttg::StartsTransfer>())
    touch(op, open, next);
  else if (conflict(open, next))
    wait(op, open);
}

/// One pass over the body after another, until no touch is added that the first op may meet.
void Planner::visitLoop(LoopLikeOpInterface loop, Touches &open) {
  while (true) {
    Touches inside = open, leaving = open;
    if (auto whileLoop = dyn_cast<scf::WhileOp>(*loop)) {
      // Its first region always runs, and is the one that leaves.
      visitBlock(*whileLoop.getBeforeBody(), inside);
      leaving = inside;
      visitBlock(*whileLoop.getAfterBody(), inside);
    } else {
      for (Region *region : loop.getLoopRegions())
        visitBlock(region->front(), inside);
      merge(leaving, inside);
    }
    if (merge(open, inside))
      continue;
    open = leaving;
    return;
  }
}

void Planner::visit(Operation &op, Touches &open) {
  if (plan.needsBarrierBefore.contains(&op))
    open.meet();
  touchGlobal(op, open);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return visitLoop(loop, open);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    Touches merged;
    for (Region &region : op.getRegions()) {
      Touches after = open;
      if (!region.empty())
        visitBlock(region.front(), after);
      merge(merged, after);
    }
    open = merged;
  } else if (auto allocation = dyn_cast<ttg::LocalAllocOp>(op)) {
    if (allocation.getSrc())
      touch(op, open, Touch{memory.rangeOf(&op), true});
  } else if (auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
    touch(op, open, Touch{rangeOf(copy.getDst()), true, /*isPending=*/true});
  } else if (isa<ttg::AsyncWaitOp>(op)) {
    // What this thread copied is there; what the others copied is behind a barrier.
    for (Touch &touch : open.shared)
      touch.isPending = false;
  } else if (auto barrier = dyn_cast<ttg::BarrierOp>(op)) {
    if (bitEnumContainsAny(barrier.getAddressSpaces(), ttg::AddressSpaces::Local))
      open.meet();
  } else if (auto call = dyn_cast<tt::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
    const SharedRange range = memory.functionRange.lookup(callee);
    if (range.begin != range.end)
      touch(op, open, Touch{range, true});
  } else if (memory.offsetOf.contains(&op)) {
    touch(op, open, Touch{memory.rangeOf(&op), true});
    // Its own barrier is behind all that was written and read before it.
    open.meet();
    merge(open, {{Touch{memory.rangeOf(&op), false}}});
  } else {
    touchOperands(op, open);
  }
}

void Planner::visitBlock(Block &block, Touches &open) {
  for (Operation &op : block)
    visit(op, open);
}

BarrierPlan analysis::planBarriers(tt::FuncOp function, const SharedMemoryPlan &memory) {
  Planner planner(memory);
  Touches open;
  for (Block &block : function.getBody())
    planner.visitBlock(block, open);
  return std::move(planner.plan);
}

//--- inside of ops -------------------------------------------------------------------------

/// A repetition writes behind the reads of the one before, and reads behind its own writes.
static unsigned barriersOf(const layout::SharedPlan &plan) { return 2 * plan.repetitions - 1; }

unsigned analysis::barriersWithin(Operation *op) {
  if (isa<ttg::LocalAllocOp>(op) || scratchBytes(op) == 0)
    return 0;
  if (isa<tt::HistogramOp>(op)) // behind the cleared counters, too
    return 2;
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op)) {
    auto from = cast<RankedTensorType>(convert.getSrc().getType()), to = cast<RankedTensorType>(convert.getType());
    return barriersOf(layout::planConversion(ttg::linearLayoutOf(from), ttg::linearLayoutOf(to),
                                             memoryBits(to.getElementType()))
                          .shared);
  }
  if (auto gather = dyn_cast<tt::GatherOp>(op))
    if (auto exchange = planExchange(gather))
      return barriersOf(exchange->shared);
  return 1;
}
