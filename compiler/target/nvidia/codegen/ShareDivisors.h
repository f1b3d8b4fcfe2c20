// Divides by the same number several times with one reciprocal.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Function.h"

namespace nereid::nvidia {

/// Rewrites divisions of f32 by `div.full` and of 32-bit integers, with the same results.
void shareDivisors(llvm::Function &function);

} // namespace nereid::nvidia
