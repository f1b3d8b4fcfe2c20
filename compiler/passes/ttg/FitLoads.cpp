// Takes fewer stages, then fewer loads, until what is in flight fits.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/FitLoads.h"

#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/LoopRegisters.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
class LoadFitter {
public:
  LoadFitter(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo, unsigned numStages, const LoopLimits &limits)
      : loop(loop), axisInfo(axisInfo), limits(limits), numStages(numStages) {}

  PipelinedLoads run() {
    fitStages();
    fitRegisters();
    return std::move(pipelined);
  }

private:
  void find() { pipelined = findPipelinedLoads(loop, axisInfo, numStages, limits.mayCopy, leftOut); }
  unsigned otherSharedBytes() const;
  unsigned totalSharedBytes() const { return pipelined.multiBufferBytes() + otherSharedBytes(); }
  bool fitsShared() const { return !pipelined.hasMultiBuffers() || totalSharedBytes() <= limits.sharedBytes; }
  void fitStages();
  void fitRegisters();
  void leaveOut();

  scf::ForOp loop;
  const index::AxisInfoAnalysis &axisInfo;
  const LoopLimits &limits;
  unsigned numStages;
  PipelinedLoads pipelined;         ///< chosen so far, with `numStages` and without `leftOut`
  SmallVector<Operation *> leftOut; ///< for lack of shared memory or of registers
};
} // namespace

/// An upper bound of the shared memory that the loop needs besides its multi-buffered allocations.
unsigned LoadFitter::otherSharedBytes() const {
  unsigned bytes = 0;
  loop->getParentOfType<tt::FuncOp>().walk([&](Operation *op) {
    const bool isReplaced = llvm::any_of(pipelined.loads, [&](const PipelinedLoad &load) {
      return load.allocation == op || (load.buffer && load.load == op);
    });
    const bool isAlive =
        loop->isAncestor(op) || (isa<LocalAllocOp>(op) &&
                                 llvm::any_of(op->getUsers(), [&](Operation *user) { return loop->isAncestor(user); }));
    if (isAlive && !isReplaced)
      bytes += analysis::bufferBytes(op);
  });
  return bytes;
}

/// Takes as many stages as fit shared memory; where not even two fit, fewer loads.
void LoadFitter::fitStages() {
  const unsigned asked = numStages;
  for (; numStages > 1; --numStages) {
    find();
    if (fitsShared()) {
      if (numStages < asked)
        tt::report(loop.getLoc(), diag::StagesReduced, asked, limits.sharedBytes, numStages);
      return;
    }
    if (pipelined.numBuffers() == 2)
      break;
  }
  numStages = 2;
  leaveOut();
}

/// Leaves out tiles that would be in flight in registers until the rest fits: the smallest that is large enough, else
/// the largest.
void LoadFitter::fitRegisters() {
  if (limits.registers == ~0u)
    return;
  const unsigned others = registersOfLoop(loop, axisInfo), all = others + registersInFlight(pipelined);
  for (unsigned total = all; total > limits.registers; total = others + registersInFlight(pipelined)) {
    Operation *load = leastToLeaveOut(pipelined, total - limits.registers);
    if (!load || llvm::is_contained(leftOut, load))
      break;
    leftOut.push_back(load);
    tt::report(load->getLoc(), diag::TileNotPipelined, all, limits.registers);
    find();
    if (!fitsShared()) // a load that only gave addresses may get a buffer now
      leaveOut();
  }
}

/// Leaves out the largest buffers until the rest fits; all loads where not even one fits.
void LoadFitter::leaveOut() {
  const size_t numBefore = leftOut.size();
  const unsigned needed = totalSharedBytes();
  while (!fitsShared()) {
    leftOut.push_back(pipelined.largest());
    find();
  }
  if (pipelined.hasMultiBuffers()) {
    for (Operation *load : ArrayRef(leftOut).drop_front(numBefore))
      tt::report(load->getLoc(), diag::LoadNotPipelined, needed, limits.sharedBytes);
    return;
  }
  tt::report(
      loop.getLoc(), diag::LoopNotPipelined,
      llvm::formatv("{0} bytes of shared memory would be needed, a block has {1}", needed, limits.sharedBytes).str());
  pipelined = {};
}

PipelinedLoads ttg::fitLoads(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo, unsigned numStages,
                             const LoopLimits &limits) {
  return LoadFitter(loop, axisInfo, numStages, limits).run();
}
