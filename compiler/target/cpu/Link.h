// Makes a shared object from an object file, in this process.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace nereid::cpu {

/// Links one relocatable object into a self-contained ELF shared object. The
/// result needs libm where the object leaves a symbol undefined. Safe to call
/// from several threads; they wait for each other.
llvm::Expected<std::vector<char>> linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname);

} // namespace nereid::cpu
