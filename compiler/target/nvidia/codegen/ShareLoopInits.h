// Gives the phis of a loop and those after it the same registers for constants that enter both.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Function.h"

namespace nereid::nvidia {

/// Runs after LLVM's own passes, which would propagate the constants again.
void shareLoopInits(llvm::Function &function);

} // namespace nereid::nvidia
