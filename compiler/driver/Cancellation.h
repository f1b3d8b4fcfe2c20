// After a failure inside LLVM, or an interrupt: what a compilation was at work on is left as it is, never destroyed.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

#include <memory>

namespace nereid::driver {

/// Whether the compilation that reported these ended in an unknown state: its module may be half-rewritten, and its
/// context still in use.
bool isCancelled(const support::DiagnosticEngine &diagnostics);

/// Lets go of what the compilation was at work on, if it ended so: destructors would meet half-finished state.
template <typename Owner> void releaseIfCancelled(Owner &owner, const support::DiagnosticEngine &diagnostics) {
  if (isCancelled(diagnostics))
    (void)owner.release();
}

} // namespace nereid::driver
