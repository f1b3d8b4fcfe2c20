// Leaks the state of a compilation that ended by a failure inside LLVM or was cancelled.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

#include <memory>

namespace nereid::driver {

/// Whether the compilation that reported these ended in an unknown state: its module may be half-rewritten, and its
/// context still in use.
bool isCancelled(const support::DiagnosticEngine &diagnostics);

/// Leaks the compilation's objects if it ended so: their destructors would run on half-finished state.
template <typename Owner> void releaseIfCancelled(Owner &owner, const support::DiagnosticEngine &diagnostics) {
  if (isCancelled(diagnostics))
    (void)owner.release();
}

} // namespace nereid::driver
