// Tracks accesses to global memory since the last barrier of the cluster, around loops until a fixed point.
//
// Elements of parts are in the hands of one CTA: their accesses conflict no more than those of the threads of a CTA, which
// no barrier orders either. All others may. The CTAs release and acquire by barriers what one of them does for all.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/ClusterHazards.h"

#include "compiler/target/nvidia/dialect/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

namespace {
/// Accesses of any CTA since the last barrier of the cluster.
struct PendingGlobal {
  bool readsPart = false, readsWhole = false, writesPart = false, writesWhole = false, acquires = false;

  bool any() const { return readsPart || readsWhole || writesPart || writesWhole; }
  bool operator==(const PendingGlobal &) const = default;
  void merge(const PendingGlobal &other) {
    readsPart |= other.readsPart;
    readsWhole |= other.readsWhole;
    writesPart |= other.writesPart;
    writesWhole |= other.writesWhole;
    acquires |= other.acquires;
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

std::optional<ClusterAccess> nvidia::clusterAccessOf(Operation &op, bool isPart) {
  ClusterAccess access{analysis::globalEffectsOf(op), isPart};
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
  if (access.isPart)
    return pending.writesWhole || (effects.writes && pending.readsWhole);
  return pending.writesPart || (effects.reads && pending.writesWhole) ||
         (effects.writes && (pending.readsPart || pending.readsWhole));
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
    const auto &[effects, isPart] = found->second;
    if (needsBarrierBefore.contains(&op) || conflicts(pending, found->second)) {
      needsBarrierBefore.insert(&op);
      pending = {};
    }
    pending.merge({.readsPart = effects.reads && isPart,
                   .readsWhole = effects.reads && !isPart,
                   .writesPart = effects.writes && isPart,
                   .writesWhole = effects.writes && !isPart,
                   .acquires = effects.acquires});
    return;
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
