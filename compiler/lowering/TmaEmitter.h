// What a target's copy engine does: blocks of arrays between global and shared memory, counted by barriers in shared
// memory. SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace nereid::lowering {

/// A strided array of which boxes are copied; dimensions from the fastest one on.
struct TensorMap {
  llvm::Value *base = nullptr;                 ///< to global memory
  llvm::SmallVector<llvm::Value *, 5> extents; ///< i64, 1 at least
  llvm::SmallVector<llvm::Value *, 4> strides; ///< i64, in bytes, of all dimensions but the first
  llvm::SmallVector<unsigned, 5> box;
  mlir::Type element; ///< with the sign that reductions give integers
  bool isUnsigned = false;
  unsigned swizzleBytes = 0;
  llvm::Value *padsWithNan = nullptr, *roundsToTf32 = nullptr; ///< i1
};

/// One box: where it begins, from the fastest dimension on, i32 each.
struct BoxCopy {
  llvm::Value *map = nullptr;
  llvm::SmallVector<llvm::Value *, 5> begin;
  llvm::Value *shared = nullptr;
  int64_t sharedOffset = 0;
  unsigned bytes = 0;
};

/// Everything but waits for barriers is done by one thread, or, of a map, one warp.
class TmaEmitter {
public:
  using IrBuilder = llvm::IRBuilder<>;
  virtual ~TmaEmitter() = default;

  /// Makes a map in `scratch`, 128 bytes of shared memory, and brings it to `target` in global memory; by all lanes of
  /// a warp. Copies of the warp's first lane may use it then.
  virtual void makeTensorMap(IrBuilder &ir, const TensorMap &map, llvm::Value *scratch, llvm::Value *target,
                             llvm::Value *lane) = 0;
  /// Marks a kernel's parameter as a map that the host passes by value; its address is that of the map.
  virtual void markTensorMapParameter(llvm::Argument &parameter) = 0;
  virtual void initBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset, unsigned count) = 0;
  virtual void invalidateBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset) = 0;
  /// Orders what the thread wrote, to shared and to global memory, before copies that start behind the next barrier.
  virtual void fence(IrBuilder &ir) = 0;
  virtual void expect(IrBuilder &ir, llvm::Value *barrier, unsigned bytes) = 0;
  virtual void waitForBarrier(IrBuilder &ir, llvm::Value *barrier, llvm::Value *parity) = 0;
  virtual void load(IrBuilder &ir, const BoxCopy &copy, llvm::Value *barrier, tt::EvictionPolicy evict) = 0;
  /// Combines the box with what is there where a kind is given.
  virtual void store(IrBuilder &ir, const BoxCopy &copy, std::optional<tt::DescriptorReduceKind> kind) = 0;
  /// Closes a group of stores; waits until all but the last `pending` groups are done, or have read shared memory.
  virtual void commitStores(IrBuilder &ir) = 0;
  virtual void waitForStores(IrBuilder &ir, unsigned pending, bool readOnly) = 0;
};

} // namespace nereid::lowering
