// Emits one atomic access to one element.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/LaneEmitter.h"

namespace nereid::cpu {

/// What is written, null for a load, and, for a compare-and-swap, what it replaces; each as the lanes hold it.
struct AtomicOperands {
  llvm::Value *value = nullptr;
  llvm::Value *compared = nullptr;
};

/// Emits `op` (tt.atomic_...) at the insert point; gives what memory held before, null for a store. Code that follows
/// may stand in another block than what precedes.
llvm::Value *emitAtomic(llvm::IRBuilder<> &ir, LaneEmitter &lanes, mlir::Operation *op, llvm::Value *address,
                        const AtomicOperands &operands);

} // namespace nereid::cpu
