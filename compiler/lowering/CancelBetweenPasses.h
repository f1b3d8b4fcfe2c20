// Lets a cancelled compilation end between two of LLVM's passes.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class LLVMContext;
}

namespace nereid::lowering {

/// From now on the passes on modules of `context` end guarded work that was cancelled (support/FatalGuard.h).
void cancelBetweenPasses(llvm::LLVMContext &context);

} // namespace nereid::lowering
