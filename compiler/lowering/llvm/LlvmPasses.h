// Runs LLVM passes and the code generator on a module.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <optional>

namespace nereid::lowering {

/// Runs the passes on every function that has a body.
void runOnFunctions(llvm::Module &module, llvm::TargetMachine &machine, llvm::FunctionPassManager passes);

/// Runs the module pass of this name, as LLVM's pipelines are written.
llvm::Error runModulePass(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef name);

/// Emits assembly or an object; this changes the module. Basic blocks of more than `largestBlock` machine instructions
/// are selected in parts: not on GPUs, where a block is scheduled as a whole for the registers that it takes.
llvm::Error emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                     llvm::SmallVectorImpl<char> &bytes, std::optional<unsigned> largestBlock = std::nullopt);

} // namespace nereid::lowering
