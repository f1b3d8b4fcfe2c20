// Implements the instructions of a GPU for this machine, for tests, by calls of the fibers' CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/lowering/InstructionEmitter.h"

namespace nereid::simt {

class HostEmitter : public nvidia::InstructionEmitter {
public:
  unsigned threadsPerWarp() const override { return 32; }
  void markKernel(llvm::Function &, const lowering::LaunchBounds &) override {}
  llvm::Value *programId(IrBuilder &ir, unsigned axis) override;
  llvm::Value *numPrograms(IrBuilder &ir, unsigned axis) override;
  llvm::Value *threadId(IrBuilder &ir, unsigned numThreads) override;
  void barrier(IrBuilder &ir, const lowering::BarrierScope &scope) override;
  void syncWarp(IrBuilder &ir) override;
  bool setRegisters(IrBuilder &, unsigned, bool) override { return true; }
  llvm::Value *shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) override;
  llvm::Value *shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) override;
  llvm::Value *reduceWarp(IrBuilder &ir, lowering::WarpReduction kind, llvm::Value *word) override;
  llvm::SmallVector<llvm::Value *, 4> emitMma(IrBuilder &ir, ttng::MmaKind kind, llvm::ArrayRef<llvm::Value *> a,
                                              llvm::ArrayRef<llvm::Value *> b,
                                              llvm::ArrayRef<llvm::Value *> accumulators) override;
  llvm::SmallVector<llvm::Value *> emitWgmma(IrBuilder &ir, const nvidia::WgmmaDot &dot) override;
  llvm::SmallVector<llvm::Value *> waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                llvm::ArrayRef<llvm::Value *> accumulators) override;
  llvm::Value *clusterRank(IrBuilder &ir) override;
  void arriveAtCluster(IrBuilder &ir) override;
  void waitForCluster(IrBuilder &ir) override;
  llvm::Value *sharedOfCta(IrBuilder &ir, llvm::Value *pointer, llvm::Value *rank) override;
  nvidia::TmaEmitter *tma() override;
  void fenceAsyncShared(IrBuilder &) override {}
  llvm::Value *sharedAddress(IrBuilder &ir, llvm::Value *pointer) override;
  llvm::Value *roundToTf32(IrBuilder &ir, llvm::Value *single) override;
  llvm::SmallVector<llvm::Value *, 4> loadGlobal(IrBuilder &ir, const lowering::GlobalAccess &access,
                                                 llvm::ArrayRef<llvm::Value *> others) override;
  void storeGlobal(IrBuilder &ir, const lowering::GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) override;
  void storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer, int64_t byteOffset,
                   llvm::Value *mask) override;
  unsigned sharedAddressSpace() const override { return 3; }
  llvm::Value *atomicGlobal(IrBuilder &, const lowering::AtomicAccess &) override { return nullptr; }
  void print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) override;
  void fail(IrBuilder &ir, const lowering::Failure &failure) override;
  llvm::StringRef scopeName(tt::MemSyncScope) const override { return ""; }
  bool hasLdmatrix() const override { return true; }
  llvm::SmallVector<llvm::Value *, 8> ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset, unsigned count,
                                               bool isTransposed) override;
  bool hasStmatrix() const override { return true; }
  void stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                bool isTransposed) override;
  void copyAsync(IrBuilder &ir, const lowering::AsyncCopy &copy) override;
  void commitCopies(IrBuilder &ir) override;
  void waitForCopies(IrBuilder &ir, unsigned numPending) override;
  llvm::Value *approxDivide(IrBuilder &, llvm::Value *, llvm::Value *) override { return nullptr; }
  llvm::Value *approxMath(IrBuilder &, lowering::ApproxMath, llvm::Value *) override { return nullptr; }
  const math::HostMath &mathFeatures() const override { return features; }
  llvm::Value *callExtern(IrBuilder &, const lowering::ExternCall &) override { return nullptr; }
  llvm::Value *narrow(IrBuilder &, llvm::Value *, mlir::Type, bool) override { return nullptr; }
  llvm::Value *widenFp8(IrBuilder &, llvm::Value *, mlir::Type) override { return nullptr; }

  unsigned barriers = 0, matrixLoads = 0, matrixStores = 0, copies = 0; ///< numbers of emitted ops

private:
  llvm::Value *call(IrBuilder &ir, const char *name, llvm::ArrayRef<llvm::Value *> arguments, bool hasResult = true);
  math::HostMath features = {.hasFma = true, .hasLibm = false, .avoidsBranches = true};
};

/// A function that the code calls, with its address.
struct HostFunction {
  const char *name;
  void *address;
};
llvm::ArrayRef<HostFunction> hostFunctions();
/// The functions of the simulated wgmma.
llvm::ArrayRef<HostFunction> wgmmaFunctions();
/// The functions of the simulated TMA.
llvm::ArrayRef<HostFunction> tmaFunctions();

} // namespace nereid::simt
