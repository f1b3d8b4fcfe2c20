// Tracks accesses to global memory since the last barrier of the cluster, around loops until a fixed point.
//
// Parts of tiles with the same offsets do not conflict: whatever arrays they belong to, an element is in the hands of
// one CTA. All other accesses may conflict. CTAs release and acquire by barriers what one of them does for all.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/clusters/ClusterHazards.h"

#include "compiler/target/nvidia/dialect/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

namespace {
/// Accesses of any CTA since the last barrier of the cluster.
struct PendingGlobal {
  using Offsets = SmallVector<Value, 2>;
  SmallVector<Offsets, 2> readParts, writtenParts;
  bool readsWhole = false, writesWhole = false, acquires = false;

  bool any() const { return !readParts.empty() || !writtenParts.empty() || readsWhole || writesWhole; }
  bool operator==(const PendingGlobal &) const = default;
  void merge(const PendingGlobal &other) {
    auto add = [](SmallVector<Offsets, 2> &into, ArrayRef<Offsets> parts) {
      for (const Offsets &part : parts)
        if (!llvm::is_contained(into, part))
          into.push_back(part);
    };
    add(readParts, other.readParts);
    add(writtenParts, other.writtenParts);
    readsWhole |= other.readsWhole;
    writesWhole |= other.writesWhole;
    acquires |= other.acquires;
  }
  void add(const ClusterAccess &access) {
    PendingGlobal own;
    own.acquires = access.effects.acquires;
    if (access.effects.reads && access.isPart)
      own.readParts.push_back(access.offsets);
    if (access.effects.writes && access.isPart)
      own.writtenParts.push_back(access.offsets);
    own.readsWhole = access.effects.reads && !access.isPart;
    own.writesWhole = access.effects.writes && !access.isPart;
    merge(own);
  }
};

class ClusterBarrierPlanner {
public:
  explicit ClusterBarrierPlanner(const ClusterAccesses &accesses) : accesses(accesses) {}
  void visit(Block &block, PendingGlobal &pending);
  llvm::SetVector<Operation *> needsBarrierBefore;

private:
  void visit(Operation &op, PendingGlobal &pending);
  void visitLoop(LoopLikeOpInterface loop, PendingGlobal &pending);
  const ClusterAccesses &accesses;
};
} // namespace

/// The offsets from a pointer that all elements have in common, or else the addresses.
static SmallVector<Value, 2> offsetsOf(Value addresses) {
  SmallVector<Value, 2> offsets;
  while (true) {
    Operation *op = addresses.getDefiningOp();
    if (auto add = dyn_cast_or_null<tt::AddPtrOp>(op)) {
      offsets.push_back(add.getOffset());
      addresses = add.getPtr();
    } else if (isa_and_nonnull<tt::BroadcastOp, tt::ExpandDimsOp>(op)) {
      addresses = op->getOperand(0);
    } else {
      if (!isa_and_nonnull<tt::SplatOp>(op))
        offsets.push_back(addresses);
      return offsets;
    }
  }
}

std::optional<ClusterAccess> nvidia::clusterAccessOf(Operation &op, bool isPart) {
  ClusterAccess access{analysis::globalEffectsOf(op), isPart, {}};
  if (auto memory = dyn_cast<tt::MemoryAccessOpInterface>(op))
    access.offsets = offsetsOf(memory.getAccessedPointer());
  else
    access.offsets.assign(op.operand_begin(), op.operand_end());
  if (isa<ttng::TileLoadOp>(op))
    access.effects.reads = true;
  if (isa<ttng::TileStoreOp>(op))
    access.effects.writes = true;
  if (!access.effects.reads && !access.effects.writes)
    return std::nullopt;
  return access;
}

static bool conflicts(const PendingGlobal &pending, const ClusterAccess &access) {
  const analysis::GlobalEffects &effects = access.effects;
  if (pending.acquires || (effects.releases && pending.any()))
    return true;
  auto isOther = [&](const PendingGlobal::Offsets &part) { return !access.isPart || part != access.offsets; };
  const bool readsOther = llvm::any_of(pending.readParts, isOther);
  if (llvm::any_of(pending.writtenParts, isOther) || (effects.writes && (readsOther || pending.readsWhole)))
    return true;
  return pending.writesWhole && (access.isPart || effects.reads);
}

/// All CTAs reach the end of the loop together, as control flow is the same in all.
void ClusterBarrierPlanner::visitLoop(LoopLikeOpInterface loop, PendingGlobal &pending) {
  while (true) {
    PendingGlobal inside = pending;
    for (Region *region : loop.getLoopRegions())
      visit(region->front(), inside);
    inside.merge(pending);
    if (inside == pending)
      return;
    pending = inside;
  }
}

void ClusterBarrierPlanner::visit(Operation &op, PendingGlobal &pending) {
  if (isa<ttng::ClusterBarrierOp, ttng::ClusterGatherOp, ttng::ClusterBroadcastOp>(op))
    pending = {};
  if (auto found = accesses.find(&op); found != accesses.end()) {
    if (needsBarrierBefore.contains(&op) || conflicts(pending, found->second)) {
      needsBarrierBefore.insert(&op);
      pending = {};
    }
    return pending.add(found->second);
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return visitLoop(loop, pending);
  if (!isa<RegionBranchOpInterface>(op))
    return;
  PendingGlobal merged;
  for (Region &region : op.getRegions()) {
    PendingGlobal after = pending;
    if (!region.empty())
      visit(region.front(), after);
    merged.merge(after);
  }
  pending = merged;
}

void ClusterBarrierPlanner::visit(Block &block, PendingGlobal &pending) {
  for (Operation &op : block)
    visit(op, pending);
}

void nvidia::insertClusterBarriers(tt::FuncOp function, const ClusterAccesses &accesses) {
  ClusterBarrierPlanner planner(accesses);
  PendingGlobal pending;
  for (Block &block : function.getBody())
    planner.visit(block, pending);
  for (Operation *op : planner.needsBarrierBefore) {
    OpBuilder builder(op);
    ttng::ClusterBarrierOp::create(builder, op->getLoc());
  }
}
