// Text for the simulated GPU from the LLVM IR of an AMD kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace nereid::sim {

/// The waves of a GPU.
struct SimulatedWave {
  std::string arch;   ///< "gfx942"
  unsigned size = 64; ///< lanes
};

/// PTX with instructions `amd.*` for what only AMD's GPUs have (runtime/sim/AmdInstructions.h). The module is one after
/// the optimisation passes, its kernels have the calling convention `amdgpu_kernel`; it is not changed. An intrinsic
/// that is not known is an error that names it.
llvm::Expected<std::string> emitPtx(const llvm::Module &module, const SimulatedWave &wave);

} // namespace nereid::sim
