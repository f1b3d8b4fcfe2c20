// Compiles LLVM IR to PTX by a short pipeline and LLVM's code generator.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TargetMachinePool.h"
#include "compiler/target/nvidia/arch/Archs.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nereid::nvidia {

/// A code generator for an architecture.
llvm::Expected<lowering::PooledTargetMachine> targetMachine(const Arch &arch);

/// The PTX versions that LLVM writes: 80 is 8.0.
std::vector<unsigned> ptxVersions();

/// Basic blocks that need more registers than `crowded` are ordered for register pressure. Returns the peak number of
/// registers that values take where there is a single basic block, else 0.
unsigned optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned crowded);
/// This changes the module.
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace nereid::nvidia
