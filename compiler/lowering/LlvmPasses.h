// Runs passes of LLVM on a module, and its code generator.
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

/// Assembly or an object; the module is changed on the way.
llvm::Error emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                     llvm::SmallVectorImpl<char> &bytes);

} // namespace nereid::lowering
