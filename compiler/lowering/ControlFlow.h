// Emits branches at the insert point of a builder.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace nereid::lowering {

/// Runs `body` where the condition holds, at the insert point.
void emitConditional(llvm::IRBuilder<> &ir, llvm::Value *condition, llvm::function_ref<void()> body);

} // namespace nereid::lowering
