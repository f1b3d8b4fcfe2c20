// Plans the bytes of shared memory of each op's buffer.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace nereid::analysis {

/// A range of the CTA's shared memory.
struct SharedRange {
  uint32_t begin = 0, end = 0;
  bool overlaps(SharedRange other) const { return begin < other.end && other.begin < end; }
  bool operator==(const SharedRange &) const = default;
};

struct SharedMemoryPlan {
  /// Byte offsets of conversions, reductions and allocations that have a buffer.
  llvm::DenseMap<mlir::Operation *, uint32_t> offsetOf;
  llvm::DenseMap<mlir::Operation *, uint32_t> bytesOf;
  /// The range used by the ops of each function; functions share no bytes, since one may call the other.
  llvm::DenseMap<mlir::Operation *, SharedRange> functionRange; ///< includes callees
  uint32_t bytes = 0;
  uint32_t alignment = 16; ///< of the first byte

  /// The range of an op's buffer; empty where it has none.
  SharedRange rangeOf(mlir::Operation *op) const;
};

/// Bytes that an op needs while it runs, to pass values between warps.
uint32_t scratchBytes(mlir::Operation *op);
/// Bytes of the buffer that an op allocates or needs while it runs.
uint32_t bufferBytes(mlir::Operation *op);
uint32_t bufferBytes(ttg::MemDescType buffer);

/// Buffers with disjoint lifetimes share bytes; those of regions of different warps live at the same time. Small
/// scratch buffers have bytes of their own up to a limit, which saves the barrier before they are written.
SharedMemoryPlan planSharedMemory(mlir::ModuleOp module);

/// The op of the function with the largest buffer, and that buffer's bytes; the function itself where there is none.
std::pair<mlir::Operation *, uint32_t> largestBuffer(tt::FuncOp function, const SharedMemoryPlan &plan);

} // namespace nereid::analysis
