// The function library of the target: compiler/target/nvidia/library as LLVM bitcode.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::nvidia {

llvm::StringRef libraryBitcode();

} // namespace nereid::nvidia
