// Emits the code of AMD GPUs: workgroup and workitem ids, lane exchanges, masked accesses, approximate arithmetic.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"
#include "compiler/lowering/gpu/FunctionLibraries.h"
#include "compiler/target/amd/arch/Archs.h"

namespace nereid::amd {

class AmdEmitter : public lowering::TargetEmitter {
public:
  using IrBuilder = lowering::IrBuilder;

  /// `wavesPerEu` is the user's request for resident waves of a SIMD unit; 0: none.
  AmdEmitter(const Arch &arch, llvm::ArrayRef<support::ExternLibrary> externLibraries, unsigned wavesPerEu);

  const Arch arch;

  void addOpEmitters(lowering::OpEmitters &table) override;
  unsigned threadsPerWarp() const override { return arch.waveSize; }
  void markKernel(llvm::Function &function, const lowering::LaunchBounds &bounds) override;
  llvm::Value *programId(IrBuilder &ir, unsigned axis) override;
  llvm::Value *numPrograms(IrBuilder &ir, unsigned axis) override;
  llvm::Value *threadId(IrBuilder &ir, unsigned numThreads) override;
  void barrier(IrBuilder &ir, const lowering::BarrierScope &scope) override;
  bool setRegisters(IrBuilder &, unsigned, bool) override { return false; }

  void syncWarp(IrBuilder &ir) override;
  llvm::Value *shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) override;
  llvm::Value *shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) override;
  llvm::Value *reduceWarp(IrBuilder &, lowering::WarpReduction, llvm::Value *) override { return nullptr; }

  llvm::SmallVector<llvm::Value *, 4> loadGlobal(IrBuilder &ir, const lowering::GlobalAccess &access,
                                                 llvm::ArrayRef<llvm::Value *> others) override;
  void storeGlobal(IrBuilder &ir, const lowering::GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) override;
  void storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer, int64_t byteOffset,
                   llvm::Value *mask) override;
  unsigned sharedAddressSpace() const override { return 3; }
  llvm::Value *rematerialised(IrBuilder &ir, llvm::Value *offset) override;
  llvm::SmallVector<llvm::Value *, 8> ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset, unsigned count,
                                               bool isTransposed) override;
  void stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                bool isTransposed) override;
  /// LLVM's own atomic accesses serve: the memory model gives them order and scope.
  llvm::Value *atomicGlobal(IrBuilder &, const lowering::AtomicAccess &) override { return nullptr; }
  void markAtomic(llvm::AtomicRMWInst &atomic) override;
  llvm::StringRef scopeName(tt::MemSyncScope scope) const override;
  bool copiesAsync(const lowering::AsyncCopy &copy) const override {
    return arch.ldsLoadBytes && (copy.bytes == arch.ldsLoadBytes || copy.bytes == 4) && copy.isInLaneOrder;
  }
  void copyAsync(IrBuilder &ir, const lowering::AsyncCopy &copy) override;
  void commitCopies(IrBuilder &ir) override;
  void waitForCopies(IrBuilder &ir, unsigned numPending) override;

  void print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) override;
  void fail(IrBuilder &ir, const lowering::Failure &failure) override;

  llvm::Value *approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) override;
  llvm::Value *approxMath(IrBuilder &ir, lowering::ApproxMath function, llvm::Value *x) override;
  const math::HostMath &mathFeatures() const override { return features; }
  llvm::StringRef externLibrary(llvm::StringRef name, llvm::StringRef symbol) override {
    return libraries.pathOf(name, symbol);
  }
  llvm::Value *callExtern(IrBuilder &ir, const lowering::ExternCall &call) override { return libraries.call(ir, call); }
  std::string describeLack(const lowering::ExternCall &call) override { return libraries.describeLack(call); }
  llvm::Value *narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) override;
  llvm::Value *widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) override;

  /// Sets how many loads to LDS each wait leaves pending, once all of them are emitted.
  void settleWaits();

  /// Links the code of library functions that were called.
  llvm::Error linkLibraries(llvm::Module &module) { return libraries.link(module); }

private:
  void loadToLds(IrBuilder &ir, const lowering::AsyncCopy &copy, llvm::Value *first, llvm::Value *mask);
  llvm::Value *exchangeRow(IrBuilder &ir, llvm::Value *word, unsigned dppControl);

  math::HostMath features;
  lowering::FunctionLibraries libraries;
  unsigned wavesPerEu;
  bool hasLoadsToLds = false; ///< so far; on architectures with CDNA's `s_waitcnt` alone
  // Loads to LDS: those of the group that is being emitted, all of them in `groupBlock`; and of the smallest group.
  unsigned copiesOfGroup = 0;
  llvm::BasicBlock *groupBlock = nullptr;
  std::optional<unsigned> copiesOfSmallestGroup;
  llvm::SmallVector<std::pair<llvm::CallInst *, unsigned>> waits; ///< and the groups that they leave pending
};

/// Sets the attributes that all functions of a module need: which inputs of the hardware they do not read.
void markInputs(llvm::Function &function);

/// How many accesses may be pending; the largest numbers wait for none.
struct WaitCounts {
  unsigned loads = 63, lds = 15;
};
/// The operand of CDNA's instruction, and the instruction.
uint32_t immediateOf(const WaitCounts &counts);
llvm::CallInst *wait(lowering::IrBuilder &ir, const WaitCounts &counts);

/// Tells LLVM that no access to LDS meets the loads to LDS that are in flight, so that it does not wait for them there.
void separateLdsLoads(llvm::Module &module);

void addMatrixDotEmitters(lowering::OpEmitters &table);
/// Emitters of `amdg`.
void addAmdgEmitters(lowering::OpEmitters &table);

} // namespace nereid::amd
