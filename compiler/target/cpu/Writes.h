// One interface to the ops that write memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/passes/tt/AddressSources.h"

namespace nereid::cpu {

/// An op that accesses memory atomically. It orders what other programs see, so no memory access moves across it; an
/// atomic load counts as a write for that.
inline bool isAtomic(mlir::Operation *op) {
  return llvm::isa_and_nonnull<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(op);
}

/// The value that an atomic access stores or combines; null where it only reads.
inline mlir::Value valueOfAtomic(mlir::Operation *op) {
  if (auto combine = llvm::dyn_cast<tt::AtomicRMWOp>(op))
    return combine.getVal();
  if (auto swap = llvm::dyn_cast<tt::AtomicCASOp>(op))
    return swap.getVal();
  auto store = llvm::dyn_cast<tt::AtomicStoreOp>(op);
  return store ? store.getVal() : mlir::Value();
}

inline bool isWrite(mlir::Operation *op) { return llvm::isa_and_nonnull<tt::StoreOp>(op) || isAtomic(op); }

/// The mask of a write; null where it has none.
inline mlir::Value maskOfWrite(mlir::Operation *op) { return isWrite(op) ? tt::accessMask(op) : mlir::Value(); }

inline mlir::Value pointerOfWrite(mlir::Operation *op) { return op->getOperand(0); }

} // namespace nereid::cpu
