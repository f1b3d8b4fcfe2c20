// Emits TMA copies, tensor maps and mbarriers as PTX, for compute capability 9.0 and later.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/lowering/TmaEmitter.h"

namespace nereid::nvidia {

class PtxTmaEmitter final : public TmaEmitter {
public:
  void makeTensorMap(IrBuilder &ir, const TensorMap &map, llvm::Value *scratch, llvm::Value *target,
                     llvm::Value *lane) override;
  void markTensorMapParameter(llvm::Argument &parameter) override;
  void initBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset, unsigned count) override;
  void invalidateBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset) override;
  void fence(IrBuilder &ir, bool ofGlobal) override;
  void expect(IrBuilder &ir, llvm::Value *barrier, unsigned bytes) override;
  void arriveByWarp(IrBuilder &ir, llvm::Value *barrier, llvm::Value *isFirstLane) override;
  void arriveAfterCopies(IrBuilder &ir, llvm::Value *barrier) override;
  void waitForBarrier(IrBuilder &ir, llvm::Value *barrier, llvm::Value *parity, bool byWarp) override;
  void load(IrBuilder &ir, const BoxCopy &copy, llvm::Value *barrier, tt::EvictionPolicy evict) override;
  void store(IrBuilder &ir, const BoxCopy &copy, std::optional<tt::DescriptorReduceKind> kind) override;
  void commitStores(IrBuilder &ir) override;
  void waitForStores(IrBuilder &ir, unsigned pending, bool readOnly) override;
};

/// The numbers of element types and of swizzles in tensor maps (PTX ISA, tensormap.replace).
unsigned elementCode(mlir::Type element, bool isUnsigned);
unsigned swizzleMode(unsigned swizzleBytes);

} // namespace nereid::nvidia
