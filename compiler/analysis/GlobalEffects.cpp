// Classifies what ops do to global memory as seen by other threads: writes, releases, acquires.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/GlobalEffects.h"

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

static GlobalEffects effectsOf(tt::MemoryAccessOpInterface access) {
  using tt::MemSemantic;
  const MemSemantic ordering = access.getAtomicOrdering().value_or(MemSemantic::RELAXED);
  const bool isBoth = ordering == MemSemantic::ACQUIRE_RELEASE;
  return {.reads = access.readsMemory(),
          .writes = access.writesMemory(),
          .releases = isBoth || ordering == MemSemantic::RELEASE,
          .acquires = isBoth || ordering == MemSemantic::ACQUIRE};
}

static GlobalEffects effectsOf(tt::CallOp call) {
  GlobalEffects effects;
  auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
  if (callee)
    callee.walk([&](Operation *inner) {
      const GlobalEffects other = globalEffectsOf(*inner);
      effects = {effects.reads || other.reads, effects.writes || other.writes, effects.copies || other.copies,
                 effects.releases || other.releases, effects.acquires || other.acquires};
    });
  return effects;
}

GlobalEffects analysis::globalEffectsOf(Operation &op) {
  if (auto call = dyn_cast<tt::CallOp>(op))
    return effectsOf(call);
  if (isa<ttg::AsyncCopyGlobalToLocalOp>(op))
    return {.copies = true};
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  return access ? effectsOf(access) : GlobalEffects();
}
