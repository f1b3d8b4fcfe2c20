// Makes values of the variables of huge functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Function.h"

namespace nereid::cpu {

/// Replaces the variables that are only loaded and stored by values and phis. The time is that of the blocks in which
/// they live: LLVM's own pass visits all that a store dominates, for each variable. Returns the number of variables.
unsigned promoteVariables(llvm::Function &function);

} // namespace nereid::cpu
