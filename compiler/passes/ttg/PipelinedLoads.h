// Chooses the loads of a loop that are pipelined, their stages, and the buffers of their tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/index/AxisInfo.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::ttg {

/// A pipelined load.
struct PipelinedLoad {
  mlir::Operation *load = nullptr; ///< of pointers, or of a whole tile
  bool isTileLoad = false;         ///< of a whole tile, whose copies a barrier counts; else threads copy
  AsyncTileLoad tile() const { return isTileLoad ? llvm::cast<AsyncTileLoad>(load) : AsyncTileLoad(); }
  /// The type of one of its buffers; null where the tile stays in registers.
  MemDescType buffer;
  /// The allocation that is filled with the tile; null where the tile's own threads read it from the buffer.
  LocalAllocOp allocation;
  unsigned stage = 0;
  llvm::SetVector<mlir::Operation *> slice; ///< computes the load's operands in the loop, without other pipelined loads
  llvm::SmallVector<unsigned, 2> needs;     ///< the pipelined loads that these operands depend on
};

struct PipelinedLoads {
  std::vector<PipelinedLoad> loads; ///< each load follows those that it needs
  unsigned copyStage = 0;           ///< of all copies to multi-buffered allocations
  unsigned lastStage = 0;           ///< of the dots
  bool hasMultiBuffers() const;
  /// Whether threads copy to multi-buffered allocations, and the first load whose tile is copied as a whole.
  bool hasThreadCopies() const;
  AsyncTileLoad firstTileCopy() const;
  unsigned multiBufferBytes() const;
  /// The load with the largest buffer, among equals the last in the loop; null where none has a buffer.
  mlir::Operation *largest() const;
  unsigned numBuffers() const { return lastStage - copyStage + 1; }
};

/// Whether the loop's body contains dots, not counting nested loops and branches.
bool hasDots(mlir::scf::ForOp loop);

/// The buffer that a load's tile goes to, if it has no other use; else null.
LocalAllocOp onlyAllocation(mlir::Operation *load);

/// The loads that dots of the loop's body depend on and that may be pipelined, over `numStages` stages; without dots,
/// the loads of whole tiles. `mayCopy` tells whether threads have asynchronous copies; loads in `leftOut` are not
/// pipelined unless addresses depend on them.
PipelinedLoads findPipelinedLoads(mlir::scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo, unsigned numStages,
                                  bool mayCopy, llvm::ArrayRef<mlir::Operation *> leftOut = {});

} // namespace nereid::ttg
