// Which bytes of shared memory each op's buffer has.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Swizzle.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace nereid::analysis {

/// A part of the block's shared memory.
struct SharedRange {
  uint32_t begin = 0, end = 0;
  bool overlaps(SharedRange other) const { return begin < other.end && other.begin < end; }
  bool operator==(const SharedRange &) const = default;
};

struct SharedMemoryPlan {
  /// Byte offsets of conversions, reductions and allocations that have a buffer.
  llvm::DenseMap<mlir::Operation *, uint32_t> offsetOf;
  llvm::DenseMap<mlir::Operation *, uint32_t> bytesOf;
  /// What the ops of each function use; functions do not share bytes, since one may call the other.
  llvm::DenseMap<mlir::Operation *, SharedRange> functionRange; ///< of a function and those that it calls
  uint32_t bytes = 0;
  uint32_t alignment = 16; ///< of the first byte

  /// An op's buffer; empty where it has none.
  SharedRange rangeOf(mlir::Operation *op) const;
};

/// How threads that hold copies of a tile get what the owners of its elements have: stored by these, loaded by all.
layout::SharedPlan planCopies(const layout::LinearLayout &layout, unsigned elementBits);
/// Bytes that an op needs while it runs: one that passes values between warps.
uint32_t scratchBytes(mlir::Operation *op);
/// Bytes of a buffer that an op allocates or needs while it runs.
uint32_t bufferBytes(mlir::Operation *op);

/// Buffers that are never alive together share bytes. Small ones of ops have bytes of their own as long as they are
/// few: then no barrier is needed before they are written.
SharedMemoryPlan planSharedMemory(mlir::ModuleOp module);

} // namespace nereid::analysis
