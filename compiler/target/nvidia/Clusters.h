// Programs that are launched as several blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace llvm {
class Module;
}

namespace nereid::nvidia {

/// Makes a program of each cluster of `numCtas` blocks along x: its first block runs it, the others end at once.
void mapProgramsToClusters(llvm::Module &module, uint32_t numCtas);

} // namespace nereid::nvidia
