// The functions that kernels call, written in C in compiler/target/cpu/library: mathematical ones, and the choice of
// where operands of dots are kept.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace nereid::cpu {

/// The library as LLVM bitcode.
llvm::StringRef libraryBitcode();
/// The function of library/KeptTiles.c.
constexpr llvm::StringLiteral kKeptTileFunction = "nereid_kept_tile";
/// Declares the library function of that name in `module`; null where there is none.
llvm::Function *declareLibraryFunction(llvm::Module &module, llvm::StringRef name);
/// Copies the library's functions that are declared in `module`, with what they call.
llvm::Error linkLibrary(llvm::Module &module);

} // namespace nereid::cpu
