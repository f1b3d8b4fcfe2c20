// Lets a compilation that was given up end between two of LLVM's passes.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class LLVMContext;
}

namespace nereid::lowering {

/// From now on passes over what `context` holds end guarded work that was given up (support/FatalGuard.h).
void cancelBetweenPasses(llvm::LLVMContext &context);

} // namespace nereid::lowering
