// Tells a compilation that ended by a failure inside LLVM, or was cancelled.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::driver {

/// Whether the compilation that reported these ended in an unknown state: its module may be half-rewritten, and its
/// context still in use, so that neither may be destroyed.
bool isCancelled(const support::DiagnosticEngine &diagnostics);

} // namespace nereid::driver
