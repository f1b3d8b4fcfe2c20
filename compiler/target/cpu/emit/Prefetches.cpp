// Computes the distances to the tiles that the plan prefetches.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Prefetches.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Distances are zero where nothing follows.
void PrefetchValues::add(const Prefetches &prefetches, llvm::Value *hasNext) {
  for (const Prefetch &tile : prefetches.tiles) {
    llvm::Value *bytes = ir.CreateSelect(hasNext, context.scalars.poly(tile.distance), ir.getInt64(0));
    if (!tile.dot) {
      distances[{tile.access, tile.nest}] = bytes;
      continue;
    }
    DotPrefetches &ofDot = ofDots[tile.dot];
    ofDot.loads.emplace_back(tile.access, bytes);
    if (!prefetches.storeAfter || ofDot.isLast)
      continue;
    ofDot.store = prefetches.storeAfter;
    ofDot.isLast = ir.CreateNot(hasNext);
  }
}

void PrefetchValues::beginIteration(scf::ForOp loop) {
  auto found = context.plan.prefetches.find(loop);
  if (found == context.plan.prefetches.end())
    return;
  llvm::Value *next = ir.CreateAdd(context.scalars.of(loop.getInductionVar()), context.scalars.of(loop.getStep()));
  llvm::Value *end = context.scalars.of(loop.getUpperBound());
  add(found->second, loop.getUnsignedCmp() ? ir.CreateICmpULT(next, end) : ir.CreateICmpSLT(next, end));
}

void PrefetchValues::beginProgram() {
  auto found = context.plan.prefetches.find(nullptr);
  if (found == context.plan.prefetches.end())
    return;
  llvm::Value *next = ir.CreateAdd(context.program.id[0], ir.getInt32(1));
  add(found->second, ir.CreateICmpULT(next, context.program.gridSize[0]));
}
