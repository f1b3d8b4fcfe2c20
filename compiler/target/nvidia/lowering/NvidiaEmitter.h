// Emits the code of NVIDIA GPUs: special registers, shuffles, predicated accesses, approximate arithmetic; matrix
// instructions, TMA and clusters for the ops of `ttng`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"
#include "compiler/lowering/gpu/FunctionLibraries.h"
#include "compiler/support/Options.h"
#include "compiler/target/nvidia/arch/Archs.h"
#include "compiler/target/nvidia/dialect/MmaKind.h"
#include "compiler/target/nvidia/lowering/TmaEmitter.h"

namespace nereid::nvidia {

struct WgmmaDot;

/// `pointer` moved by `offset` bytes; the same value where that is 0.
inline llvm::Value *offsetPointer(lowering::IrBuilder &ir, llvm::Value *pointer, int64_t offset) {
  return offset == 0 ? pointer : ir.CreatePtrAdd(pointer, ir.getInt64(offset));
}

class NvidiaEmitter : public lowering::TargetEmitter {
public:
  using IrBuilder = lowering::IrBuilder;

  /// `externLibraries` provides functions that our library does not have.
  explicit NvidiaEmitter(const Arch &arch, llvm::ArrayRef<support::ExternLibrary> externLibraries = {});

  void addOpEmitters(lowering::OpEmitters &table) override;
  unsigned threadsPerWarp() const override { return 32; }
  void markKernel(llvm::Function &function, const lowering::LaunchBounds &bounds) override;
  bool markParameterByValue(llvm::Argument &parameter) override;
  llvm::Value *programId(IrBuilder &ir, unsigned axis) override;
  llvm::Value *numPrograms(IrBuilder &ir, unsigned axis) override;
  llvm::Value *threadId(IrBuilder &ir, unsigned numThreads) override;
  void barrier(IrBuilder &ir, const lowering::BarrierScope &scope) override;
  void syncWarp(IrBuilder &ir) override;
  bool setRegisters(IrBuilder &ir, unsigned count, bool isIncrease) override;

  llvm::Value *shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) override;
  llvm::Value *shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) override;
  llvm::Value *reduceWarp(IrBuilder &ir, lowering::WarpReduction kind, llvm::Value *word) override;

  llvm::SmallVector<llvm::Value *, 4> loadGlobal(IrBuilder &ir, const lowering::GlobalAccess &access,
                                                 llvm::ArrayRef<llvm::Value *> others) override;
  void storeGlobal(IrBuilder &ir, const lowering::GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) override;
  void storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer, int64_t byteOffset,
                   llvm::Value *mask) override;
  unsigned sharedAddressSpace() const override { return 3; }
  llvm::Value *atomicGlobal(IrBuilder &ir, const lowering::AtomicAccess &access) override;
  void print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) override;
  void fail(IrBuilder &ir, const lowering::Failure &failure) override;
  llvm::StringRef scopeName(tt::MemSyncScope scope) const override;
  bool hasLdmatrix() const { return arch.hasWarpMma; }
  llvm::SmallVector<llvm::Value *, 8> ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset, unsigned count,
                                               bool isTransposed) override;
  bool hasStmatrix() const { return arch.hasStmatrix; }
  void stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                bool isTransposed) override;
  void releaseStores(IrBuilder &ir, ttg::MemDescType buffer) override;
  bool loadTile(lowering::TtgFunctionEmitter &emitter, const lowering::BufferAddress &buffer, ttg::MemDescType type,
                mlir::RankedTensorType tile, llvm::MutableArrayRef<llvm::Value *> registers) override;
  bool storeTile(lowering::TtgFunctionEmitter &emitter, const lowering::BufferAddress &buffer, ttg::MemDescType type,
                 mlir::RankedTensorType tile, llvm::ArrayRef<llvm::Value *> registers) override;
  void copyAsync(IrBuilder &ir, const lowering::AsyncCopy &copy) override;
  void commitCopies(IrBuilder &ir) override;
  void waitForCopies(IrBuilder &ir, unsigned numPending) override;

  llvm::Value *mulHigh(IrBuilder &ir, llvm::Value *a, llvm::Value *b, bool isSigned) override;
  llvm::Value *clampMagnitude(IrBuilder &ir, llvm::Value *x, llvm::Value *limit, bool keepsNan) override;
  llvm::Value *approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) override;
  llvm::Value *approxMath(IrBuilder &ir, lowering::ApproxMath function, llvm::Value *x) override;
  const math::HostMath &mathFeatures() const override { return features; }
  llvm::StringRef externLibrary(llvm::StringRef name, llvm::StringRef symbol) override {
    return libraries.pathOf(name, symbol);
  }
  llvm::Value *callExtern(IrBuilder &ir, const lowering::ExternCall &call) override { return libraries.call(ir, call); }
  std::string describeLack(const lowering::ExternCall &call) override { return libraries.describeLack(call); }
  llvm::Value *narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) override;
  llvm::Value *narrowPair(IrBuilder &ir, llvm::Value *low, llvm::Value *high) override;
  llvm::Value *widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) override;

  /// Adds the dots of two steps along k to four accumulators of a warp's 16 x 8 tile: rows g and g + 8, two columns
  /// each. Words are i32, or f64: from `a` rows g and g + 8 of the first step, then of the second; from `b` one per
  /// step.
  llvm::SmallVector<llvm::Value *, 4> emitMma(IrBuilder &ir, ttng::MmaKind kind, llvm::ArrayRef<llvm::Value *> a,
                                              llvm::ArrayRef<llvm::Value *> b,
                                              llvm::ArrayRef<llvm::Value *> accumulators);
  /// The accumulators of a warp-group dot (wgmma); its operands may still be read where it does not wait.
  llvm::SmallVector<llvm::Value *> emitWgmma(IrBuilder &ir, const WgmmaDot &dot);
  /// Waits until at most `pendings` dots are pending; returns the accumulators, which depend on the wait.
  llvm::SmallVector<llvm::Value *> waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                llvm::ArrayRef<llvm::Value *> accumulators);
  /// Orders the thread's accesses to shared memory before accesses of the async proxy (TMA, tensor cores) after the
  /// next barrier.
  void fenceAsyncShared(IrBuilder &ir);
  /// The address of a pointer to shared memory as an i32, in bytes from the start of the CTA's shared memory.
  llvm::Value *sharedAddress(IrBuilder &ir, llvm::Value *pointer);
  /// The CTA's index in its cluster.
  llvm::Value *clusterRank(IrBuilder &ir);
  /// Barrier of all threads of the cluster: accesses to memory before the arrival are visible to all of them after the
  /// wait.
  void arriveAtCluster(IrBuilder &ir);
  void waitForCluster(IrBuilder &ir);
  /// A pointer to what `pointer`, to the CTA's shared memory, is in the CTA of that rank.
  llvm::Value *sharedOfCta(IrBuilder &ir, llvm::Value *pointer, llvm::Value *rank);
  /// The emitter of mbarriers; null where the GPU has none.
  TmaEmitter *barriers() { return arch.hasAsyncCopy ? &copies : nullptr; }
  /// Whether waits for barriers suspend the thread, rather than test again and again.
  bool suspendsAtBarriers() const { return arch.makesTensorMaps; }
  /// The emitter of TMA copies, too, which later GPUs have.
  TmaEmitter *tma() { return arch.makesTensorMaps ? &copies : nullptr; }
  /// Rounds to the nearest f32 with 10 bits of fraction (tf32).
  llvm::Value *roundToTf32(IrBuilder &ir, llvm::Value *single);

  /// Links the code of library functions that were called.
  llvm::Error linkLibraries(llvm::Module &module) { return libraries.link(module); }

private:
  const Arch &arch;
  math::HostMath features;
  lowering::FunctionLibraries libraries;
  TmaEmitter copies;
};

/// The function's target, in the emitters of `addOpEmitters`.
inline NvidiaEmitter &instructionsOf(lowering::TtgFunctionEmitter &emitter) {
  return static_cast<NvidiaEmitter &>(emitter.target);
}

//--- by family ---
void addBarrierEmitters(lowering::OpEmitters &table);
void addClusterEmitters(lowering::OpEmitters &table);
void addMmaDotEmitters(lowering::OpEmitters &table);
void addTmaEmitters(lowering::OpEmitters &table);
void addWarpGroupDotEmitters(lowering::OpEmitters &table);

} // namespace nereid::nvidia
