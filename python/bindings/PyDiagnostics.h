// The compiler's messages as Python exceptions and warnings.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"
#include "python/bindings/PyHost.h"

namespace nereid::python {

/// Raises the exception that triton.compiler.errors makes of a failed compilation. `host` is null where
/// no Python function was compiled.
[[noreturn]] void raiseDiagnostics(const support::DiagnosticEngine &diagnostics, PyHost *host);

/// Hands what a successful compilation had to say to the package.
void showWarnings(const support::DiagnosticEngine &diagnostics, PyHost *host);

} // namespace nereid::python
