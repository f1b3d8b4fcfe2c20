// Makes a shared object from an object file, in this process.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace nereid::cpu {

/// Links one relocatable object into a self-contained ELF shared object. The
/// result needs libm where the object leaves a symbol undefined. Safe to call
/// from several threads; they wait for each other.
llvm::Expected<std::vector<char>> linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname);

/// A linker: takes a command line, says on the stream what is wrong, and whether it made the file.
using Linker = llvm::function_ref<bool(llvm::ArrayRef<const char *> args, llvm::raw_ostream &errors)>;
/// The same with another linker than lld. One that ends in a fatal error of LLVM is a failure as any other.
llvm::Expected<std::vector<char>> linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname, Linker linker);

} // namespace nereid::cpu
