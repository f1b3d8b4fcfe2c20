// Interface to the instructions that only NVIDIA GPUs have: matrix instructions, ldmatrix, wgmma and TMA. NvidiaEmitter
// implements it as PTX.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"
#include "compiler/target/nvidia/dialect/MmaKind.h"

namespace nereid::nvidia {

struct WgmmaDot;
class TmaEmitter;

class InstructionEmitter : public lowering::TargetEmitter {
public:
  using IrBuilder = lowering::IrBuilder;

  // Shared memory.
  virtual bool hasLdmatrix() const = 0;
  virtual bool hasStmatrix() const = 0;
  /// The address of a pointer to shared memory as an i32, in bytes from the start of the CTA's shared memory.
  virtual llvm::Value *sharedAddress(IrBuilder &ir, llvm::Value *pointer) = 0;
  /// Orders the thread's accesses to shared memory before accesses of the async proxy (TMA, tensor cores) after the
  /// next barrier.
  virtual void fenceAsyncShared(IrBuilder &ir) = 0;

  // Matrix instructions, for tiles in their layouts.
  /// Adds the dots of two steps along k to four accumulators of a warp's 16 x 8 tile: rows g and g + 8, two columns
  /// each. Words are i32, or f64: from `a` rows g and g + 8 of the first step, then of the second; from `b` one per
  /// step.
  virtual llvm::SmallVector<llvm::Value *, 4> emitMma(IrBuilder &ir, ttng::MmaKind kind,
                                                      llvm::ArrayRef<llvm::Value *> a, llvm::ArrayRef<llvm::Value *> b,
                                                      llvm::ArrayRef<llvm::Value *> accumulators) = 0;
  /// The accumulators of a warp-group dot (wgmma); its operands may still be read where it does not wait.
  virtual llvm::SmallVector<llvm::Value *> emitWgmma(IrBuilder &ir, const WgmmaDot &dot) = 0;
  /// Waits until at most `pendings` dots are pending; returns the accumulators, which depend on the wait.
  virtual llvm::SmallVector<llvm::Value *> waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                        llvm::ArrayRef<llvm::Value *> accumulators) = 0;
  /// Rounds to the nearest f32 with 10 bits of fraction (tf32).
  virtual llvm::Value *roundToTf32(IrBuilder &ir, llvm::Value *single) = 0;

  // Clusters.
  /// The CTA's index in its cluster.
  virtual llvm::Value *clusterRank(IrBuilder &ir) = 0;
  /// Barrier of all threads of the cluster: accesses to memory before the arrival are visible to all of them after the
  /// wait.
  virtual void arriveAtCluster(IrBuilder &ir) = 0;
  virtual void waitForCluster(IrBuilder &ir) = 0;
  /// A pointer to what `pointer`, to the CTA's shared memory, is in the CTA of that rank.
  virtual llvm::Value *sharedOfCta(IrBuilder &ir, llvm::Value *pointer, llvm::Value *rank) = 0;

  /// The emitter of TMA copies and mbarriers; null where the GPU has none.
  virtual TmaEmitter *tma() = 0;

  // What the lowering of `ttg` asks, in terms of the above.
  void addOpEmitters(lowering::OpEmitters &table) override;
  bool markParameterByValue(llvm::Argument &parameter) override;
  void releaseStores(IrBuilder &ir, ttg::MemDescType buffer) override;
  bool loadTile(lowering::TtgFunctionEmitter &emitter, llvm::Value *buffer, ttg::MemDescType type,
                mlir::RankedTensorType tile, llvm::MutableArrayRef<llvm::Value *> registers) override;
  bool storeTile(lowering::TtgFunctionEmitter &emitter, llvm::Value *buffer, ttg::MemDescType type,
                 mlir::RankedTensorType tile, llvm::ArrayRef<llvm::Value *> registers) override;
};

/// The instructions of the function's target, in emitters that InstructionEmitter has added.
inline InstructionEmitter &instructionsOf(lowering::TtgFunctionEmitter &emitter) {
  return static_cast<InstructionEmitter &>(emitter.target);
}

//--- by family ---
void addBarrierEmitters(lowering::OpEmitters &table);
void addClusterEmitters(lowering::OpEmitters &table);
void addMmaDotEmitters(lowering::OpEmitters &table);
void addTmaEmitters(lowering::OpEmitters &table);
void addWarpGroupDotEmitters(lowering::OpEmitters &table);

} // namespace nereid::nvidia
