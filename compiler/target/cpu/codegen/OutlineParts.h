// Splits huge functions into several.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"

namespace nereid::cpu {

/// Number of instructions above which a function is split, and how large its parts are, about.
struct PartSizes {
  unsigned largest = 10'000;
  unsigned part = 5'000;
};

/// Whether outlineParts() would split the function.
bool isHuge(const llvm::Function &function, PartSizes sizes = {});

/// Whether the module has a function that outlineParts() would split.
bool hasHugeFunction(const llvm::Module &module, PartSizes sizes = {});

/// Moves parts of huge functions to functions of their own; returns their number. No part begins inside a loop that is
/// smaller than a part. Values that a part leaves to later ones pass through the caller's stack.
unsigned outlineParts(llvm::Module &module, PartSizes sizes = {});

} // namespace nereid::cpu
