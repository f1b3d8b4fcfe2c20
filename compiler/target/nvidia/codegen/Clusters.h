// Maps each program to a cluster of CTAs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace llvm {
class Module;
}

namespace nereid::nvidia {

/// Makes a program of each cluster of `numCtas` CTAs along x. Where not all of them run it, the first CTA does, and the
/// others exit at once.
void mapProgramsToClusters(llvm::Module &module, uint32_t numCtas, bool allRun);

} // namespace nereid::nvidia
