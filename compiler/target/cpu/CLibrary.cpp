// The functions written in C, as what is held as bitcode.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/CLibrary.h"

#include "compiler/lowering/BitcodeLibrary.h"

using namespace nereid;

llvm::Function *cpu::declareLibraryFunction(llvm::Module &module, llvm::StringRef name) {
  return lowering::declareFrom(libraryBitcode(), module, name);
}

llvm::Error cpu::linkLibrary(llvm::Module &module) {
  // Most kernels do without a look at the library.
  return lowering::hasDeclarations(module, "__nv_") ? lowering::linkFrom(libraryBitcode(), module)
                                                    : llvm::Error::success();
}
