// The PTX version that inline assembly needs.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"

namespace nereid::nvidia {

/// The version (81 is 8.1) that the inline assembly of kernels and of linked libraries needs, by its mnemonics and
/// types; 0 where it has none that came later than the oldest version that is written.
unsigned ptxOfAssembly(const llvm::Module &module);

} // namespace nereid::nvidia
