// Emits branches and counted loops at the insert point of a builder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/ControlFlow.h"

namespace nereid::cpu {

using lowering::emitConditional;

/// The value that `body` returns where the condition holds, `other` elsewhere.
llvm::Value *emitWhereOr(llvm::IRBuilder<> &ir, llvm::Value *condition, llvm::Value *other,
                         llvm::function_ref<llvm::Value *()> body);
/// Returns the basic block of the code after the insert point; the builder is left at the end of the block before it.
llvm::BasicBlock *splitHere(llvm::IRBuilder<> &ir, const char *name);
/// for (index = 0; index < end; index += step) at the insert point; no loop where there is one iteration.
void emitCounted(llvm::IRBuilder<> &ir, int64_t end, int64_t step, llvm::function_ref<void(llvm::Value *)> body);
/// The same, but the loop ends before `limit`, too, which may be null; the first iteration runs in any case.
void emitCounted(llvm::IRBuilder<> &ir, int64_t end, llvm::Value *limit, int64_t step,
                 llvm::function_ref<void(llvm::Value *)> body);

} // namespace nereid::cpu
