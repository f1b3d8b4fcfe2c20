// Classifies what ops do to global memory as seen by other threads: writes, releases, acquires.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/GlobalEffects.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

static GlobalEffects effectsOf(tt::MemSemantic semantic) {
  const bool both = semantic == tt::MemSemantic::ACQUIRE_RELEASE;
  return {.reads = true,
          .writes = true,
          .releases = both || semantic == tt::MemSemantic::RELEASE,
          .acquires = both || semantic == tt::MemSemantic::ACQUIRE};
}

static GlobalEffects effectsOf(tt::CallOp call) {
  GlobalEffects effects;
  auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
  if (callee)
    callee.walk([&](Operation *inner) {
      const GlobalEffects other = globalEffectsOf(*inner);
      effects = {effects.reads || other.reads, effects.writes || other.writes, effects.releases || other.releases,
                 effects.acquires || other.acquires};
    });
  return effects;
}

GlobalEffects analysis::globalEffectsOf(Operation &op) {
  if (auto call = dyn_cast<tt::CallOp>(op))
    return effectsOf(call);
  if (auto combine = dyn_cast<tt::AtomicRMWOp>(op))
    return effectsOf(combine.getSem());
  if (auto swap = dyn_cast<tt::AtomicCASOp>(op))
    return effectsOf(swap.getSem());
  if (auto load = dyn_cast<tt::AtomicLoadOp>(op))
    return {.reads = true, .acquires = load.getSem() == tt::MemSemantic::ACQUIRE};
  if (auto store = dyn_cast<tt::AtomicStoreOp>(op))
    return {.writes = true, .releases = store.getSem() == tt::MemSemantic::RELEASE};
  return {.reads = isa<tt::LoadOp>(op), .writes = isa<tt::StoreOp>(op)};
}
