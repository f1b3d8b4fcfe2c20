// Runs LLVM passes and the code generator on a module.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace nereid::lowering {

/// Runs the passes on every function that has a body.
void runOnFunctions(llvm::Module &module, llvm::TargetMachine &machine, llvm::FunctionPassManager passes);

/// Emits assembly or an object; this changes the module. Basic blocks of more than `largestBlock` machine instructions
/// are selected in parts.
llvm::Error emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                     llvm::SmallVectorImpl<char> &bytes, unsigned largestBlock);

} // namespace nereid::lowering
