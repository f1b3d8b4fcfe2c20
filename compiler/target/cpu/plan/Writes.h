// One interface to the ops that write memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::cpu {

/// An op that accesses memory atomically. It orders what other programs see, so no memory access moves across it; an
/// atomic load counts as a write for that.
inline bool isAtomic(mlir::Operation *op) {
  auto access = llvm::dyn_cast_or_null<tt::MemoryAccessOpInterface>(op);
  return access && access.isAtomic();
}

/// The value that an atomic access stores or combines; null where it only reads.
inline mlir::Value valueOfAtomic(mlir::Operation *op) {
  return isAtomic(op) ? llvm::cast<tt::MemoryAccessOpInterface>(op).getStoredValue() : mlir::Value();
}

inline bool isWrite(mlir::Operation *op) {
  auto access = llvm::dyn_cast_or_null<tt::MemoryAccessOpInterface>(op);
  return access && (access.isAtomic() || access.writesMemory());
}

/// The mask of a write; null where it has none.
inline mlir::Value maskOfWrite(mlir::Operation *op) {
  return isWrite(op) ? llvm::cast<tt::MemoryAccessOpInterface>(op).getAccessMask() : mlir::Value();
}

inline mlir::Value pointerOfWrite(mlir::Operation *op) {
  return llvm::cast<tt::MemoryAccessOpInterface>(op).getAccessedPointer();
}

} // namespace nereid::cpu
