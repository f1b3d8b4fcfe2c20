// Keeps values in local memory where a function has many times more of them than a thread has registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Function.h"

namespace nereid::lowering {

/// In 32-bit registers of a thread.
struct SpillLimits {
  unsigned excess;   ///< functions with at most so many live at once stay as they are
  unsigned perBlock; ///< values that a basic block keeps in registers in other functions
  /// Functions in which each of these registers would be stored and loaded more often than this stay as they are, too.
  unsigned accesses = ~0u;
  /// Assembly that copies an address, and its constraints: slots are offsets from the copy, which each access has
  /// as an immediate. Without it LLVM forms an address per slot, or after allocation, when no register may be left.
  const char *copyAddress = nullptr, *copyConstraints = nullptr;
};

/// Returns the most registers that values take at once, before the change. `uniformity` is null where all values may go
/// to memory; else uniform ones stay in registers, since they would come back as divergent ones.
unsigned spillExcess(llvm::Function &function, const llvm::UniformityInfo *uniformity, SpillLimits limits);

} // namespace nereid::lowering
