// The ops that write memory, through one set of questions.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::cpu {

/// An op that reads, changes and writes memory in one step. It orders what other programs see, so nothing that
/// touches memory moves across it.
inline bool isAtomic(mlir::Operation *op) { return llvm::isa_and_nonnull<tt::AtomicRMWOp, tt::AtomicCASOp>(op); }

inline bool isWrite(mlir::Operation *op) { return llvm::isa_and_nonnull<tt::StoreOp>(op) || isAtomic(op); }

/// The mask of a write; null where it has none.
inline mlir::Value maskOfWrite(mlir::Operation *op) {
  if (auto store = llvm::dyn_cast_or_null<tt::StoreOp>(op))
    return store.getMask();
  auto combine = llvm::dyn_cast_or_null<tt::AtomicRMWOp>(op);
  return combine ? combine.getMask() : mlir::Value();
}

inline mlir::Value pointerOfWrite(mlir::Operation *op) { return op->getOperand(0); }

} // namespace nereid::cpu
