// Compilations that ended by a failure inside LLVM or for want of memory, or were cancelled.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::driver {

/// Whether the compilation that reported these ended in an unknown state: its module may be half-rewritten, and its
/// context still in use, so that neither may be destroyed.
bool isCancelled(const support::DiagnosticEngine &diagnostics);

/// Reports that memory is too short to compile the kernel, or to read the file, of this name.
void reportOutOfMemory(llvm::StringRef name, support::DiagnosticEngine &diagnostics);

/// Whether this process can still compile; reports the reason where it cannot.
bool checkCompiler(support::DiagnosticEngine &diagnostics);

} // namespace nereid::driver
