// Compiles LLVM IR to PTX by a short pipeline and LLVM's code generator.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/llvm/TargetMachinePool.h"
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

/// The most registers of a thread that values take at once.
struct RegisterDemand {
  unsigned straightLine = 0; ///< where there is a single basic block, else 0
  unsigned ofBlocks = 0;     ///< of any basic block, before values are kept in local memory
};
/// Basic blocks that need more registers than `crowded` are ordered for register pressure. Functions that need many
/// times a thread's registers keep most of their values in local memory.
RegisterDemand optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned crowded);
/// ptxas takes seconds for values of twice a thread's registers, minutes for eight times as many: above this it
/// optimises less.
inline constexpr unsigned kExcessRegisters = 600;
/// This changes the module.
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace nereid::nvidia
