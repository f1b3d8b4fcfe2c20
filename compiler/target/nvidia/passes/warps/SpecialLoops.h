// Finds loops of chained dots whose loads warps of their own can run.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/index/AxisInfo.h"
#include "compiler/target/nvidia/passes/dots/LoopCost.h"
#include "compiler/target/nvidia/passes/dots/OverlapDots.h"

namespace nereid::nvidia {

/// Registers of a thread of a producer and of a consumer, of two other warp groups: all that a CTA has. A producer that
/// computes addresses of tiles needs some, one that starts TMA few.
struct RegisterShares {
  int32_t producer, consumer;
};
constexpr RegisterShares registerShares(bool usesTma) {
  return usesTma ? RegisterShares{24, 240} : RegisterShares{40, 232};
}

/// A load, of pointers or of a whole tile, whose tile goes through a multi-buffered allocation.
struct Channel {
  mlir::Operation *load;
  ttg::LocalAllocOp allocation;

  ttg::AsyncTileLoad tile() const { return llvm::dyn_cast<ttg::AsyncTileLoad>(load); }
  /// The pointers or the tensor map that the load reads through.
  mlir::Value memory() const;
};

struct SpecialLoop {
  mlir::scf::ForOp loop;
  ChainedDots dots;
  LoopCost cost;
  llvm::SmallVector<Channel, 2> channels;
  unsigned stages; ///< asked for
};

/// Says why the warps of a loop stay alike; false, as the answer to whether they differ.
bool declineSpecialization(mlir::Operation *at, llvm::StringRef reason);

/// The loop's dots and loads; nothing, with a note that says why, where its warps should stay alike.
std::optional<SpecialLoop> findSpecialLoop(mlir::scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo,
                                           unsigned defaultStages);

/// Registers of a thread that computes. The second dot's operand exists twice while the dot runs.
unsigned registersOf(ChainedDots dots, bool areOverlapped);

/// Whether both loops can use the same multi-buffered allocations.
bool haveSameBuffers(const SpecialLoop &a, const SpecialLoop &b);

/// Whether the op may wait for what other programs write, as a spin on a flag does.
bool mayWait(mlir::Operation *op);
/// Whether an op before the loop, or in it, may wait for other programs.
bool waitsForOthers(mlir::scf::ForOp last);

} // namespace nereid::nvidia
