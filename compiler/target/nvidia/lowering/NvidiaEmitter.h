// Emits the code of NVIDIA GPUs: special registers, shuffles, predicated accesses, approximate arithmetic.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/gpu/FunctionLibraries.h"
#include "compiler/support/Options.h"
#include "compiler/target/nvidia/arch/Archs.h"
#include "compiler/target/nvidia/lowering/InstructionEmitter.h"
#include "compiler/target/nvidia/lowering/PtxTmaEmitter.h"

namespace nereid::nvidia {

/// `pointer` moved by `offset` bytes; the same value where that is 0.
inline llvm::Value *offsetPointer(lowering::IrBuilder &ir, llvm::Value *pointer, int64_t offset) {
  return offset == 0 ? pointer : ir.CreatePtrAdd(pointer, ir.getInt64(offset));
}

class NvidiaEmitter : public InstructionEmitter {
public:
  /// `externLibraries` provides functions that our library does not have.
  explicit NvidiaEmitter(const Arch &arch, llvm::ArrayRef<support::ExternLibrary> externLibraries = {});

  unsigned threadsPerWarp() const override { return 32; }
  void markKernel(llvm::Function &function, const lowering::LaunchBounds &bounds) override;
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
  bool hasLdmatrix() const override { return arch.hasWarpMma; }
  llvm::SmallVector<llvm::Value *, 8> ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset, unsigned count,
                                               bool isTransposed) override;
  bool hasStmatrix() const override { return arch.hasStmatrix; }
  void stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                bool isTransposed) override;
  void copyAsync(IrBuilder &ir, const lowering::AsyncCopy &copy) override;
  void commitCopies(IrBuilder &ir) override;
  void waitForCopies(IrBuilder &ir, unsigned numPending) override;

  llvm::Value *mulHigh(IrBuilder &ir, llvm::Value *a, llvm::Value *b, bool isSigned) override;
  llvm::Value *clampMagnitude(IrBuilder &ir, llvm::Value *x, llvm::Value *limit, bool keepsNan) override;
  llvm::Value *approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) override;
  llvm::Value *approxMath(IrBuilder &ir, lowering::ApproxMath function, llvm::Value *x) override;
  const math::HostMath &mathFeatures() const override { return features; }
  llvm::StringRef externLibrary(llvm::StringRef name) const override { return libraries.pathOf(name); }
  llvm::Value *callExtern(IrBuilder &ir, const lowering::ExternCall &call) override { return libraries.call(ir, call); }
  std::string describeLack(const lowering::ExternCall &call) override { return libraries.describeLack(call); }
  llvm::Value *narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) override;
  llvm::Value *narrowPair(IrBuilder &ir, llvm::Value *low, llvm::Value *high) override;
  llvm::Value *widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) override;

  llvm::SmallVector<llvm::Value *, 4> emitMma(IrBuilder &ir, ttng::MmaKind kind, llvm::ArrayRef<llvm::Value *> a,
                                              llvm::ArrayRef<llvm::Value *> b,
                                              llvm::ArrayRef<llvm::Value *> accumulators) override;
  llvm::SmallVector<llvm::Value *> emitWgmma(IrBuilder &ir, const WgmmaDot &dot) override;
  llvm::SmallVector<llvm::Value *> waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                llvm::ArrayRef<llvm::Value *> accumulators) override;
  void fenceAsyncShared(IrBuilder &ir) override;
  llvm::Value *sharedAddress(IrBuilder &ir, llvm::Value *pointer) override;
  llvm::Value *clusterRank(IrBuilder &ir) override;
  void arriveAtCluster(IrBuilder &ir) override;
  void waitForCluster(IrBuilder &ir) override;
  llvm::Value *sharedOfCta(IrBuilder &ir, llvm::Value *pointer, llvm::Value *rank) override;
  TmaEmitter *tma() override { return arch.makesTensorMaps ? &copies : nullptr; }
  llvm::Value *roundToTf32(IrBuilder &ir, llvm::Value *single) override;

  /// Links the code of library functions that were called.
  llvm::Error linkLibraries(llvm::Module &module) { return libraries.link(module); }

private:
  const Arch &arch;
  math::HostMath features;
  lowering::FunctionLibraries libraries;
  PtxTmaEmitter copies;
};

} // namespace nereid::nvidia
