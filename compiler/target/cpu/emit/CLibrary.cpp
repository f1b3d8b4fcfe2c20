// Declares and links the library functions written in C from their bitcode.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/CLibrary.h"

#include "compiler/lowering/llvm/BitcodeLibrary.h"

using namespace nereid;

llvm::Function *cpu::declareLibraryFunction(llvm::Module &module, llvm::StringRef name) {
  return lowering::declareFrom(libraryBitcode(), module, name);
}

llvm::Error cpu::linkLibrary(llvm::Module &module) {
  // Most kernels call no library function: the bitcode is not parsed for them.
  const bool isUsed = lowering::hasDeclarations(module, "__nv_") || module.getFunction(kKeptTileFunction);
  return isUsed ? lowering::linkFrom(libraryBitcode(), module) : llvm::Error::success();
}
