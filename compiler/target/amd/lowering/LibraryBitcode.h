// The function library of the target: compiler/target/amd/library as LLVM bitcode.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::amd {

llvm::StringRef libraryBitcode();

} // namespace nereid::amd
