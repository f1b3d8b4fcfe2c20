// Counts what a loop takes of a thread's registers.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/LoopRegisters.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/RegisterPressure.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// 32-bit registers of a thread for the addresses of loads by pointers that the loop carries: one per vector.
static unsigned registersOfPointers(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo) {
  llvm::MapVector<Value, unsigned> registers;
  for (auto load : loop.getOps<tt::LoadOp>())
    if (isa<BlockArgument>(load.getPtr()) && isa<RankedTensorType>(load.getType())) {
      const unsigned elements = analysis::vectorElems(*analysis::memoryAccessOf(load), axisInfo);
      registers[load.getPtr()] = analysis::registersOf(load.getPtr().getType()) / elements;
    }
  unsigned total = 0;
  for (const auto &[pointer, count] : registers)
    total += count;
  return total;
}

unsigned ttg::registersOfLoop(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo) {
  llvm::SetVector<Value> tiles;
  unsigned largestResult = 0;
  for (Value carried : loop.getRegionIterArgs())
    if (isa<RankedTensorType>(carried.getType()) && !isa<tt::PointerType>(tt::elementOf(carried.getType())))
      tiles.insert(carried);
  // Integers of more bits are offsets, which are one value plus constants.
  auto isOfData = [](Value value) {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    return tile && (isa<FloatType>(tile.getElementType()) || tile.getElementType().isInteger(8));
  };
  loop->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *from = operand.getDefiningOp();
      const bool isOneValue = from && (from->hasTrait<OpTrait::ConstantLike>() || isa<tt::SplatOp>(from));
      if (isOfData(operand) && loop.isDefinedOutsideOfLoop(operand) && !isOneValue)
        tiles.insert(operand);
    }
    auto dot = dyn_cast<tt::DotOpInterface>(op);
    if (dot && !isa<BlockArgument>(dot.getC()))
      largestResult = std::max(largestResult, analysis::registersOf(dot.getD().getType()));
  });
  unsigned total = largestResult + registersOfPointers(loop, axisInfo);
  for (Value tile : tiles)
    total += analysis::registersOf(tile.getType());
  return total;
}

static unsigned registersOfTile(const PipelinedLoad &load) {
  return load.buffer ? 0 : analysis::registersOf(load.load->getResult(0).getType());
}

unsigned ttg::registersInFlight(const PipelinedLoads &pipelined) {
  unsigned total = 0;
  for (const PipelinedLoad &load : pipelined.loads)
    total += registersOfTile(load);
  return total;
}

Operation *ttg::leastToLeaveOut(const PipelinedLoads &pipelined, unsigned registers) {
  llvm::SmallDenseSet<unsigned, 4> needed;
  for (const PipelinedLoad &load : pipelined.loads)
    needed.insert_range(load.needs);
  Operation *bestLoad = nullptr;
  unsigned best = 0;
  for (auto [index, load] : llvm::enumerate(pipelined.loads)) {
    const unsigned here = needed.contains(index) ? 0 : registersOfTile(load);
    const bool isBetter = best < registers ? here > best : here >= registers && here < best;
    if (isBetter) {
      bestLoad = load.load;
      best = here;
    }
  }
  return bestLoad;
}
