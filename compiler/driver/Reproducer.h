// Writes a file that repeats a failure of the compiler itself.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/driver/Backend.h"

namespace nereid::driver {

/// Writes the IR before the failed phase of `work`, with the command that repeats the phase and the reason of its
/// failure as comments; a text that replaces a stage goes to a file beside it. Returns the file's path; empty where
/// none could be written.
std::string writeReproducer(const Compilation &work, llvm::StringRef reason);

} // namespace nereid::driver
