// Which loads of a loop run ahead of its products, how far, and where their tiles wait.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/AxisInfo.h"
#include "compiler/dialect/ttng/Dialect.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::ttg {

/// A load that runs ahead.
struct PipelinedLoad {
  mlir::Operation *load = nullptr; ///< of pointers, or of a tile through a map
  bool isTma = false;              ///< the copy engine brings it
  ttng::TileLoadOp tile() const { return isTma ? llvm::cast<ttng::TileLoadOp>(load) : ttng::TileLoadOp(); }
  /// The buffer that is one of a ring of them; null where the tile waits in registers.
  MemDescType buffer;
  /// What fills such a buffer from the tile; null where the tile is read from the ring by its own threads.
  LocalAllocOp allocation;
  unsigned stage = 0;
  llvm::SetVector<mlir::Operation *> slice; ///< computes the load's operands in the loop; other early loads apart
  llvm::SmallVector<unsigned, 2> needs;     ///< the early loads that these operands come from
};

struct PipelinedLoads {
  std::vector<PipelinedLoad> loads; ///< a load stands behind those that it needs
  unsigned copyStage = 0;           ///< of all copies to rings
  unsigned lastStage = 0;           ///< of the products
  bool hasMultiBuffers() const;
  /// Whether threads copy to rings, and whether the copy engine does.
  bool hasThreadCopies() const;
  bool hasTmaCopies() const;
  unsigned multiBufferBytes() const;
  /// The load with the largest ring, of several the last in the loop; null where there is no ring.
  mlir::Operation *largest() const;
  unsigned numBuffers() const { return lastStage - copyStage + 1; }
};

/// A product of tiles, of whatever instructions.
bool isDot(mlir::Operation *op);
/// Whether there are products in the loop's body, not in a loop or a branch in it.
bool hasDots(mlir::scf::ForOp loop);

/// The loads that products of the loop's body depend on and that may run ahead, over so many stages; without products,
/// what the copy engine brings. `mayCopy` says whether threads have asynchronous copies; `leftOut` stay where they are,
/// but for those that addresses come from.
PipelinedLoads findPipelinedLoads(mlir::scf::ForOp loop, const analysis::AxisInfoAnalysis &axisInfo, unsigned numStages,
                                  bool mayCopy, llvm::ArrayRef<mlir::Operation *> leftOut = {});

} // namespace nereid::ttg
