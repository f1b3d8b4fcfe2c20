// Emits code for each lane of a chunk, and code that runs under a condition.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"

namespace nereid::cpu {

/// Runs `body` with the number (i32) of each set lane, or of every lane without a mask, in ascending order.
void forEachLane(NestContext &context, llvm::Value *mask, llvm::function_ref<void(llvm::Value *)> body);
/// Stores the lanes to the stack, where a loop can index them.
llvm::AllocaInst *spillLanes(NestContext &context, llvm::Value *vector);
llvm::Value *loadLane(llvm::IRBuilder<> &ir, llvm::AllocaInst *lanes, llvm::Value *lane);

/// Runs `body` where the condition holds, at the insert point. LLVM runs a few instructions in any case, to save the
/// branch, unless the condition rarely holds.
void emitWhere(NestContext &context, llvm::Value *condition, llvm::function_ref<void()> body, bool isRare = false);

} // namespace nereid::cpu
