// Compiles LLVM IR to object code for a CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/TargetSpec.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <vector>

namespace nereid::cpu {

/// The LLVM machine of a target: position-independent code, small code model.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const support::TargetSpec &target);

/// Runs the short pipeline; the emitter has already chosen loops and vectors.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);

llvm::Expected<std::vector<char>> emitObject(llvm::Module &module, llvm::TargetMachine &machine);
llvm::Expected<std::string> emitAssembly(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace nereid::cpu
