// The symbol of a kernel in the compiled code.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nereid::driver {

/// The kernel's own name, or one that differs from it where generated code, a linker or an assembler gives that name a
/// meaning of its own.
std::string entryName(llvm::StringRef kernel);

} // namespace nereid::driver
