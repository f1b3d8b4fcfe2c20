// Emits one atomic access to one element.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/LaneEmitter.h"

namespace nereid::cpu {

/// The stored value (null for a load) and, for a compare-and-swap, the expected one; both in the lane type.
struct AtomicOperands {
  llvm::Value *value = nullptr;
  llvm::Value *compared = nullptr;
};

/// Emits `op` (tt.atomic_...) at the insert point; returns the old value in memory, null for a store. The code after it
/// may be in another basic block than the code before it.
llvm::Value *emitAtomic(llvm::IRBuilder<> &ir, LaneEmitter &lanes, mlir::Operation *op, llvm::Value *address,
                        const AtomicOperands &operands);

} // namespace nereid::cpu
