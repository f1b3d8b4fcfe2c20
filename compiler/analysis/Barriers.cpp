// Tracks pending accesses since the last barrier, around loops until a fixed point.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/Barriers.h"

#include "compiler/analysis/DotReads.h"
#include "compiler/analysis/GlobalEffects.h"
#include "compiler/analysis/GlobalHazards.h"
#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

namespace {
struct PendingAccess {
  SharedRange range;
  bool writes = false;
  /// An asynchronous copy in flight: by its contract nothing before its wait accesses the same elements.
  bool isAsyncCopy = false;
  /// An atomic access that makes no difference in which order it and others like it run.
  bool isCommutative = false;
  /// An op each of whose warps accesses a part of its own.
  Operation *ofWarps = nullptr;
  bool operator==(const PendingAccess &) const = default;
  bool isHazardWith(const PendingAccess &other) const {
    const bool isOfOneWarp = ofWarps && ofWarps == other.ofWarps;
    const bool isInAnyOrder = isCommutative && other.isCommutative;
    return !isAsyncCopy && !isOfOneWarp && !isInAnyOrder && range.overlaps(other.range) && (writes || other.writes);
  }
};
/// Accesses of any thread since the last barrier.
struct PendingAccesses {
  SmallVector<PendingAccess, 4> shared;
  SmallVector<GlobalAccess, 2> global = {};
  bool accessesGlobal = false; ///< reads or writes, which a releasing access must follow
  bool acquires = false;       ///< an acquire that reads of all threads must follow

  /// Drops what a barrier completes.
  void sync() {
    llvm::erase_if(shared, [](const PendingAccess &access) { return !access.isAsyncCopy; });
    global.clear();
    accessesGlobal = acquires = false;
  }
};

class Planner {
public:
  explicit Planner(const SharedMemoryPlan &memory) : memory(memory) {}

  void visitBlock(Block &block, PendingAccesses &pending);
  BarrierPlan plan;

private:
  void visit(Operation &op, PendingAccesses &pending);
  void visitLoop(LoopLikeOpInterface loop, PendingAccesses &pending);
  void visitScratch(Operation &op, PendingAccesses &pending);
  void visitWait(ttg::AsyncWaitOp wait, PendingAccesses &pending);
  void visitWarps(ttg::WarpSpecializeOp op, PendingAccesses &pending);
  void addAccesses(Operation &op, PendingAccesses &pending, ArrayRef<PendingAccess> next);
  void addReadsOfDot(Operation &op, PendingAccesses &pending);
  void addOperandAccesses(Operation &op, PendingAccesses &pending);
  void addGlobalAccesses(Operation &op, PendingAccesses &pending);
  void insertBarrier(Operation &op, PendingAccesses &pending);
  void addArguments(tt::CallOp call, PendingAccesses &pending);
  SmallVector<SharedRange, 2> rangesOf(Value buffer) const;

  const SharedMemoryPlan &memory;
  GlobalHazards globalHazards;
};
} // namespace

static bool hasHazard(const PendingAccesses &pending, ArrayRef<GlobalAccess> next) {
  return llvm::any_of(pending.global, [&](const GlobalAccess &earlier) {
    return llvm::any_of(next, [&](const GlobalAccess &access) { return earlier.isHazardWith(access); });
  });
}

static void mergeGlobal(PendingAccesses &into, ArrayRef<GlobalAccess> from) {
  for (const GlobalAccess &access : from)
    if (!llvm::is_contained(into.global, access))
      into.global.push_back(access);
}

/// Adds new accesses; true where there were any.
static bool merge(PendingAccesses &into, const PendingAccesses &from) {
  const size_t before = into.shared.size() + into.global.size();
  for (const PendingAccess &access : from.shared)
    if (!llvm::is_contained(into.shared, access))
      into.shared.push_back(access);
  mergeGlobal(into, from.global);
  const bool isNew = (from.accessesGlobal && !into.accessesGlobal) || (from.acquires && !into.acquires);
  into.accessesGlobal |= from.accessesGlobal;
  into.acquires |= from.acquires;
  return isNew || into.shared.size() + into.global.size() != before;
}

void Planner::insertBarrier(Operation &op, PendingAccesses &pending) {
  plan.needsBarrierBefore.insert(&op);
  pending.sync();
}

void Planner::addGlobalAccesses(Operation &op, PendingAccesses &pending) {
  const GlobalEffects effects = globalEffectsOf(op);
  const bool accesses = effects.reads || effects.writes;
  if (!accesses && !effects.copies)
    return;
  const SmallVector<GlobalAccess, 1> next = globalHazards.accessesOf(op);
  if (hasHazard(pending, next) || pending.acquires || (pending.accessesGlobal && effects.releases))
    insertBarrier(op, pending);
  mergeGlobal(pending, next);
  pending.accessesGlobal |= accesses;
  pending.acquires |= effects.acquires;
}

/// The bytes of the allocations that a buffer may be a view of, all bytes where they are not known.
SmallVector<SharedRange, 2> Planner::rangesOf(Value buffer) const {
  SmallVector<SharedRange, 2> ranges;
  SmallVector<Value> todo = {buffer};
  llvm::SmallDenseSet<Value, 8> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (auto allocation = dyn_cast_or_null<ttg::LocalAllocOp>(op)) {
      ranges.push_back(memory.rangeOf(allocation));
    } else if (op && op->hasTrait<ttg::MemDescView>()) {
      todo.push_back(op->getOperand(0));
    } else if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
      todo.append({select.getTrueValue(), select.getFalseValue()});
    } else {
      const SmallVector<Value, 2> sources = forwardedTo(value);
      if (sources.empty())
        return {SharedRange{0, memory.bytes}};
      todo.append(sources.begin(), sources.end());
    }
  }
  return ranges;
}

static bool hasHazard(const PendingAccesses &pending, ArrayRef<PendingAccess> next) {
  return llvm::any_of(pending.shared, [&](const PendingAccess &earlier) {
    return llvm::any_of(next, [&](const PendingAccess &access) { return earlier.isHazardWith(access); });
  });
}

void Planner::addAccesses(Operation &op, PendingAccesses &pending, ArrayRef<PendingAccess> next) {
  if (hasHazard(pending, next))
    insertBarrier(op, pending);
  merge(pending, {llvm::to_vector<4>(next)});
}

/// A dot that reads operands from shared memory does so after any barrier between their loads and the dot.
void Planner::addReadsOfDot(Operation &op, PendingAccesses &pending) {
  SmallVector<PendingAccess, 4> next;
  for (Value buffer : buffersReadByDot(op))
    for (SharedRange range : rangesOf(buffer))
      next.push_back({range});
  addAccesses(op, pending, next);
}

/// A wait completes this thread's copies; those of others are complete after a barrier. Copies that it leaves in flight
/// stay so for later waits: which they are is not followed.
void Planner::visitWait(ttg::AsyncWaitOp wait, PendingAccesses &pending) {
  PendingAccesses complete;
  for (PendingAccess access : pending.shared)
    if (std::exchange(access.isAsyncCopy, false))
      complete.shared.push_back(access);
  if (wait.getNum() == 0)
    llvm::erase_if(pending.shared, [](const PendingAccess &access) { return access.isAsyncCopy; });
  merge(pending, complete);
}

static bool isCommutative(Operation &op) {
  auto atomic = dyn_cast<ttg::LocalAtomicScatterRMWOp>(op);
  return atomic && atomic.isCommutative();
}

/// Adds the buffers that an op reads or writes by its operands.
void Planner::addOperandAccesses(Operation &op, PendingAccesses &pending) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || !llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<ttg::MemDescType>(type); }))
    return;
  SmallVector<MemoryEffects::EffectInstance, 4> effects;
  interface.getEffects(effects);
  SmallVector<PendingAccess, 4> next;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value buffer = effect.getValue();
    if (buffer && isa<ttg::MemDescType>(buffer.getType()) &&
        isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      for (SharedRange range : rangesOf(buffer))
        next.push_back({.range = range,
                        .writes = isa<MemoryEffects::Write>(effect.getEffect()),
                        .isCommutative = isCommutative(op)});
  }
  if (next.empty())
    return;
  // An op that starts a transfer counts as complete at the wait before threads go on: only earlier accesses of others
  // are hazards for it.
  if (!op.hasTrait<ttg::StartsTransfer>())
    addAccesses(op, pending, next);
  else if (hasHazard(pending, next))
    insertBarrier(op, pending);
}

/// Visits the body until no pending access is added that its first op may conflict with.
void Planner::visitLoop(LoopLikeOpInterface loop, PendingAccesses &pending) {
  while (true) {
    PendingAccesses inside = pending, exiting = pending;
    if (auto whileLoop = dyn_cast<scf::WhileOp>(*loop)) {
      // The before region always runs, and the loop leaves from it.
      visitBlock(*whileLoop.getBeforeBody(), inside);
      exiting = inside;
      visitBlock(*whileLoop.getAfterBody(), inside);
    } else {
      for (Region *region : loop.getLoopRegions())
        visitBlock(region->front(), inside);
      merge(exiting, inside);
    }
    if (merge(pending, inside))
      continue;
    pending = exiting;
    return;
  }
}

/// A barrier of the CTA begins the op. Regions that share buffers order their accesses by ops of their own.
void Planner::visitWarps(ttg::WarpSpecializeOp op, PendingAccesses &pending) {
  pending = {};
  for (Region &region : op->getRegions()) {
    PendingAccesses inside;
    visitBlock(region.front(), inside);
    merge(pending, inside);
  }
}

/// An op with a buffer of its own writes it, synchronises and reads it.
void Planner::visitScratch(Operation &op, PendingAccesses &pending) {
  auto interface = dyn_cast<ttg::ScratchOpInterface>(op);
  PendingAccess access = {.range = memory.rangeOf(&op), .writes = true};
  if (interface && interface.getScratch().isOfWarps) {
    access.ofWarps = &op;
    return addAccesses(op, pending, access);
  }
  addAccesses(op, pending, access);
  pending.sync(); // its own barrier follows all reads and writes before it
  access.writes = false;
  merge(pending, {{access}});
}

/// A function may read and write the buffers that it is given.
void Planner::addArguments(tt::CallOp call, PendingAccesses &pending) {
  SmallVector<PendingAccess, 4> next;
  for (Value argument : call.getArgs())
    if (isa<ttg::MemDescType>(argument.getType()))
      for (SharedRange range : rangesOf(argument))
        next.push_back({range, true});
  if (!next.empty())
    addAccesses(*call, pending, next);
}

void Planner::visit(Operation &op, PendingAccesses &pending) {
  if (plan.needsBarrierBefore.contains(&op))
    pending.sync();
  addGlobalAccesses(op, pending);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return visitLoop(loop, pending);
  if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op))
    return visitWarps(specialize, pending);
  if (isa<RegionBranchOpInterface>(op)) {
    PendingAccesses merged;
    for (Region &region : op.getRegions()) {
      PendingAccesses after = pending;
      if (!region.empty())
        visitBlock(region.front(), after);
      merge(merged, after);
    }
    pending = merged;
  } else if (auto allocation = dyn_cast<ttg::LocalAllocOp>(op)) {
    if (allocation.getSrc())
      addAccesses(op, pending, PendingAccess{memory.rangeOf(&op), true});
  } else if (auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
    SmallVector<PendingAccess, 4> next;
    for (SharedRange range : rangesOf(copy.getDst()))
      next.push_back({range, true, /*isAsyncCopy=*/true});
    addAccesses(op, pending, next);
  } else if (auto wait = dyn_cast<ttg::AsyncWaitOp>(op)) {
    visitWait(wait, pending);
  } else if (auto barrier = dyn_cast<ttg::BarrierOp>(op)) {
    if (bitEnumContainsAny(barrier.getAddressSpaces(), ttg::AddressSpaces::Local))
      pending.sync();
    pending.global.clear();
  } else if (isa<imported::BarrierOp>(op)) {
    pending.global.clear();
  } else if (auto call = dyn_cast<tt::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
    const SharedRange range = memory.functionRange.lookup(callee);
    if (range.begin != range.end)
      addAccesses(op, pending, PendingAccess{range, true});
    addArguments(call, pending);
  } else if (auto signal = dyn_cast<ttg::ThreadsSignal>(op)) {
    if (signal.followsOtherThreads() && (!pending.shared.empty() || pending.accessesGlobal))
      insertBarrier(op, pending);
  } else if (memory.offsetOf.contains(&op)) {
    addOperandAccesses(op, pending);
    visitScratch(op, pending);
  } else if (isa<tt::DotOp, tt::DotScaledOp>(op)) {
    addReadsOfDot(op, pending);
  } else if (auto load = dyn_cast<ttg::LocalLoadOp>(op); !load || !isReadByDot(load)) {
    addOperandAccesses(op, pending);
  }
}

void Planner::visitBlock(Block &block, PendingAccesses &pending) {
  for (Operation &op : block)
    visit(op, pending);
}

BarrierPlan analysis::planBarriers(tt::FuncOp function, const SharedMemoryPlan &memory) {
  Planner planner(memory);
  PendingAccesses pending;
  for (Block &block : function.getBody())
    planner.visitBlock(block, pending);
  return std::move(planner.plan);
}

unsigned analysis::barriersWithin(Operation *op) {
  auto interface = dyn_cast<ttg::ScratchOpInterface>(op);
  return interface ? interface.getScratch().barriers : 0;
}
