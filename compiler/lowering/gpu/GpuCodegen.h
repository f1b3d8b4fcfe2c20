// What code generation for GPUs of all vendors has in common: the code generator's options, and the passes before it.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace nereid::lowering {

/// LLVM's code generator for `cpu`; nothing where `target` does not know that.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createGpuMachine(const llvm::Target &target,
                                                                      const llvm::Triple &triple, llvm::StringRef cpu,
                                                                      llvm::StringRef features,
                                                                      llvm::CodeGenOptLevel level);

/// Simplifies emitted code and moves what is invariant out of loops.
llvm::FunctionPassManager gpuFunctionPasses();

/// This changes the module.
llvm::Expected<std::string> emitGpuAssembly(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace nereid::lowering
