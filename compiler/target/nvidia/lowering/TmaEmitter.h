// Emits TMA copies of tiles between global and shared memory, tensor maps and mbarriers as PTX, for compute capability
// 9.0 and later.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace nereid::nvidia {

/// A strided array from which boxes are copied; dimensions are listed from the fastest one on.
struct TensorMap {
  llvm::Value *base = nullptr;                 ///< pointer to global memory
  llvm::SmallVector<llvm::Value *, 5> extents; ///< i64, at least 1
  llvm::SmallVector<llvm::Value *, 4> strides; ///< i64, in bytes; all dimensions but the fastest
  llvm::SmallVector<unsigned, 5> box;
  mlir::Type element; ///< signless; see isUnsigned
  bool isUnsigned = false;
  unsigned swizzleBytes = 0;
  llvm::Value *padsWithNan = nullptr, *roundsToTf32 = nullptr; ///< i1
};

/// The copy of one box; `begin` is listed from the fastest dimension on, i32 each.
struct BoxCopy {
  llvm::Value *map = nullptr;
  llvm::SmallVector<llvm::Value *, 5> begin;
  llvm::Value *shared = nullptr;
  int64_t sharedOffset = 0;
  unsigned bytes = 0;
};

/// One thread issues everything but waits for barriers and the arrivals of other threads; one warp makes tensor maps.
class TmaEmitter {
public:
  using IrBuilder = llvm::IRBuilder<>;

  /// Makes a tensor map in `scratch` (128 bytes of shared memory) and copies it to `target` in global memory; executed
  /// by all lanes of a warp. Afterwards copies by the warp's first lane may use it.
  void makeTensorMap(IrBuilder &ir, const TensorMap &map, llvm::Value *scratch, llvm::Value *target, llvm::Value *lane);
  /// Lets the thread use a tensor map that another one made before the last barrier.
  void acquireTensorMap(IrBuilder &ir, llvm::Value *map);
  /// Marks a kernel parameter as a tensor map that the host passes by value; the parameter's address is that of the
  /// tensor map.
  void markTensorMapParameter(llvm::Argument &parameter);
  void initBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset, unsigned count);
  void invalidateBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset);
  /// Orders the thread's writes to shared memory, with `ofGlobal` also those to global memory, before copies that start
  /// after the next barrier.
  void fence(IrBuilder &ir, bool ofGlobal);
  void expect(IrBuilder &ir, llvm::Value *barrier, unsigned bytes);
  /// The warp's first lane arrives, after the accesses of all lanes; executed by all of them.
  void arriveByWarp(IrBuilder &ir, llvm::Value *barrier, llvm::Value *isFirstLane);
  /// The thread arrives so many times.
  void arrive(IrBuilder &ir, llvm::Value *barrier, unsigned count);
  /// The thread arrives when its asynchronous copies to shared memory are done; the barrier counts the arrival, or
  /// expects one more until then.
  void arriveAfterCopies(IrBuilder &ir, llvm::Value *barrier, bool isCounted);
  /// With `byWarp` no lane goes on before all lanes of its warp have passed the wait. `suspends`: by an instruction of
  /// compute capability 9.0.
  void waitForBarrier(IrBuilder &ir, llvm::Value *barrier, llvm::Value *parity, bool byWarp, bool suspends);
  void load(IrBuilder &ir, const BoxCopy &copy, llvm::Value *barrier, tt::EvictionPolicy evict);
  /// Stores the box, or combines it with what memory holds where `kind` is given.
  void store(IrBuilder &ir, const BoxCopy &copy, std::optional<tt::DescriptorReduceKind> kind);
  /// Commits a group of stores; the wait leaves the last `pending` groups pending, and with `readOnly` waits only until
  /// shared memory was read.
  void commitStores(IrBuilder &ir);
  void waitForStores(IrBuilder &ir, unsigned pending, bool readOnly);
};

/// The numbers of element types and of swizzles in tensor maps (PTX ISA, tensormap.replace).
unsigned elementCode(mlir::Type element, bool isUnsigned);
unsigned swizzleMode(unsigned swizzleBytes);

} // namespace nereid::nvidia
