// Assigns each buffer an offset in the arena; buffers that are never live at one time may share one.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "compiler/target/cpu/plan/Lifetimes.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

uint64_t Buffer::bytesOfTile() const {
  // A kernel's vectors may extend past the end by less than one vector.
  return llvm::alignTo(elements() * storageBytes(element), artifact::kArenaAlign);
}

void cpu::allocateBuffers(PlanContext &context) {
  // Buffers whose starts agree modulo 4096 would compete for the same cache sets.
  constexpr uint64_t skew = 192;
  LoopPlan &plan = context.plan;
  const std::vector<LiveRange> liveRanges = liveRangesOf(plan, context.affineInfo);
  struct Allocation {
    uint64_t begin, end;
    LiveRange liveRange;
  };
  std::vector<Allocation> allocations; // sorted by offset
  for (auto [buffer, liveRange] : llvm::zip_equal(plan.buffers, liveRanges)) {
    buffer.bytes = buffer.bytesOfTile();
    const uint64_t size = buffer.allBytes() + (buffer.bytes >= 4096 ? skew : 0);
    uint64_t offset = llvm::alignTo(plan.stateBytes(), artifact::kArenaAlign);
    for (const Allocation &other : allocations)
      if (other.liveRange.overlaps(liveRange) && offset + size > other.begin)
        offset = std::max(offset, other.end);
    buffer.offset = offset;
    const Allocation allocation{offset, offset + size, liveRange};
    allocations.insert(llvm::upper_bound(allocations, allocation,
                                         [](const Allocation &a, const Allocation &b) { return a.begin < b.begin; }),
                       allocation);
    plan.arenaBytes = std::max(plan.arenaBytes, offset + size);
  }
  plan.state = PlanState::Allocated;
}
