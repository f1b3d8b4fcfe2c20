// The compiler's diagnostics as Python exceptions and warnings.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"
#include "python/bindings/PyHost.h"

namespace nereid::python {

/// Raises the exception that triton.compiler.errors makes from a failed compilation. `host` is null where no Python
/// function was compiled.
[[noreturn]] void raiseDiagnostics(const support::DiagnosticEngine &diagnostics, PyHost *host);

/// Passes the warnings of a successful compilation to the package.
void showWarnings(const support::DiagnosticEngine &diagnostics, PyHost *host);
/// Reports the remarks alone, of a compilation that goes on.
void showRemarks(const support::DiagnosticEngine &diagnostics, PyHost *host);

} // namespace nereid::python
