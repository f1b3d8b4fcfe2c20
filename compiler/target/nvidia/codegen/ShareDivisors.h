// Divides by the same number several times with one reciprocal.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Function.h"

namespace nereid::nvidia {

/// Rewrites divisions of f32 by `div.full`, with the same results.
void shareDivisors(llvm::Function &function);

} // namespace nereid::nvidia
