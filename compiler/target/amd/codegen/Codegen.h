// Compiles LLVM IR to AMD's assembly, and that to a code object.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/llvm/TargetMachinePool.h"
#include "compiler/target/amd/arch/Archs.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nereid::amd {

/// A code generator for an architecture.
llvm::Expected<lowering::PooledTargetMachine> targetMachine(const Arch &arch);

/// Returns the most registers of a thread that values take at once. What exceeds kExcessRegisters goes to scratch
/// memory.
unsigned optimise(llvm::Module &module, llvm::TargetMachine &machine);
/// LLVM's scheduler and register allocator take minutes for values of several times a thread's registers. Values of 16
/// bits count as 32: some 900 of an attention kernel's fit into 256.
inline constexpr unsigned kExcessRegisters = 1000;
/// Turns calls of printf into writes to the buffer that the runtime prints.
llvm::Error lowerPrintf(llvm::Module &module, llvm::TargetMachine &machine);

struct AssemblyError {
  unsigned line = 0; ///< of the text; 0: no error
  std::string text;
};
/// The object of an assembly text; empty after an error.
std::vector<char> assemble(llvm::StringRef text, const llvm::TargetMachine &machine, AssemblyError &error);

/// What the assembly says of a kernel.
struct KernelResources {
  unsigned vectorRegisters = 0; ///< of a lane, accumulation registers included
  unsigned scalarRegisters = 0;
  unsigned spilledRegisters = 0;
  unsigned scratchBytes = 0; ///< of a lane
};
KernelResources resourcesOf(llvm::StringRef assembly);

} // namespace nereid::amd
