// Chooses the loops whose loads go to warps of their own.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/warps/SpecialLoops.h"

#include "compiler/analysis/GlobalEffects.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/PipelinedLoads.h"
#include "compiler/target/nvidia/passes/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

/// Registers of a thread besides those of matrices.
static constexpr unsigned kOtherRegisters = 40;

Value Channel::memory() const { return tile() ? tile().getMemory() : cast<tt::LoadOp>(load).getPtr(); }

bool nvidia::declineSpecialization(Operation *at, llvm::StringRef reason) {
  tt::report(at->getLoc(), nvidia::diag::WarpsAlike, reason);
  return false;
}

/// Whether each of the two dots reads one loaded buffer, and no dot reads the other's.
static bool feedEachDot(ArrayRef<Channel> channels, const ChainedDots &dots) {
  auto reads = [](ttng::WarpGroupDotOp dot, Channel channel) {
    return llvm::any_of(dot->getOperands(), [&](Value operand) {
      return isa<MemDescType>(operand.getType()) && allocationOf(operand) == channel.allocation;
    });
  };
  return channels.size() == 2 && reads(dots.first, channels[0]) && reads(dots.second, channels[1]) &&
         !reads(dots.first, channels[1]) && !reads(dots.second, channels[0]);
}

unsigned nvidia::registersOf(ChainedDots dots, bool areOverlapped) {
  const unsigned operand = analysis::registersOf(dots.second.getA().getType());
  return analysis::registersOf(dots.second.getD().getType()) + analysis::registersOf(dots.first.getD().getType()) +
         operand * (areOverlapped ? 2 : 1) + kOtherRegisters;
}

/// Whether the loop is faster where warps differ. Twice as many warps, of two CTAs, hide the latency of exponentials
/// better than two warp groups: where they fit and the tensor cores have less to do, warps stay alike.
static bool pays(ChainedDots dots, const LoopCost &cost, bool usesTma) {
  const unsigned threads = numWarpsOf(dots.first) * threadsPerWarpOf(dots.first);
  const bool residesTwice = 2 * threads * registersOf(dots, false) <= kRegistersOfCta;
  return registersOf(dots, true) <= unsigned(registerShares(usesTma).consumer) &&
         (!residesTwice || 2 * cost.tensor >= 3 * cost.special);
}

std::optional<SpecialLoop> nvidia::findSpecialLoop(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo,
                                                   unsigned defaultStages) {
  const auto decline = [](Operation *at, llvm::StringRef reason) {
    (void)declineSpecialization(at, reason);
    return std::nullopt;
  };
  auto asked = loop->getAttrOfType<IntegerAttr>(tt::kNumStages);
  const unsigned stages = asked ? asked.getInt() : defaultStages;
  if (stages < 2)
    return decline(loop, "num_stages=1 asks for no loads ahead");
  if (loop->hasAttr(tt::kNoWarpSpecialize))
    return decline(loop, "warp_specialize=False");
  if (!isa<tt::FuncOp>(loop->getParentOp()))
    return decline(loop, "it is inside of another loop or branch");
  const PipelinedLoads pipelined = findPipelinedLoads(loop, axisInfo, 2, /*mayCopy=*/true);
  SmallVector<Operation *> loads;
  SpecialLoop special{loop, {}, {}, {}, stages};
  for (const PipelinedLoad &load : pipelined.loads) {
    if (!load.allocation || !load.needs.empty() || load.isTileLoad != pipelined.loads.front().isTileLoad)
      return decline(load.load, "this load does not go to shared memory from addresses that are known in advance");
    loads.push_back(load.load);
    special.channels.push_back({load.load, load.allocation});
  }
  llvm::sort(special.channels, [](Channel &a, Channel &b) { return a.load->isBeforeInBlock(b.load); });
  const auto dots = findChainedDots(loop, loads);
  if (!dots || !feedEachDot(special.channels, *dots))
    return decline(loop, "it has no two dots, the second of which multiplies what is computed from the first, with one "
                         "load for each");
  special.dots = *dots;
  special.cost = costOf(loop);
  if (!pays(*dots, special.cost, pipelined.loads.front().isTileLoad))
    return decline(loop, "two blocks of warps that do the same hide latencies as well, or registers do not suffice");
  return special;
}

bool nvidia::haveSameBuffers(const SpecialLoop &a, const SpecialLoop &b) {
  return llvm::equal(a.channels, b.channels, [](Channel a, Channel b) {
    return a.allocation.getType() == b.allocation.getType() && bool(a.tile()) == bool(b.tile());
  });
}

bool nvidia::mayWait(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile() || load.getCache() == tt::CacheModifier::CV;
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  return (access && access.isAtomic()) || isa<scf::WhileOp>(op) || analysis::globalEffectsOf(*op).acquires;
}

bool nvidia::waitsForOthers(scf::ForOp last) {
  const WalkResult result = last->getParentRegion()->walk([&](Operation *op) {
    Operation *outer = last->getBlock()->findAncestorOpInBlock(*op);
    const bool isBefore = outer == last || outer->isBeforeInBlock(last);
    return isBefore && mayWait(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}
