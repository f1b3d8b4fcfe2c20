// Errors and remarks of passes and targets that keep their kind, and so their code, through MLIR's diagnostics.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

#include "mlir/IR/Diagnostics.h"

namespace nereid::tt {

/// Emits a diagnostic of that kind, as `report` below, whose message is complete.
mlir::InFlightDiagnostic reportText(mlir::Location where, const support::DiagnosticKind &kind, llvm::StringRef text);

/// Emits a diagnostic of that kind at `where`: an error, a remark, or a note that only explanations show. A handler of
/// MLIR's diagnostics finds the kind with `kindOf`.
template <typename... Args>
mlir::InFlightDiagnostic report(mlir::Location where, const support::DiagnosticKind &kind, Args &&...args) {
  return reportText(where, kind, llvm::formatv(kind.format.data(), std::forward<Args>(args)...).str());
}

/// The kind that `report` attached; null for diagnostics of MLIR's own.
const support::DiagnosticKind *kindOf(mlir::Diagnostic &diagnostic);

} // namespace nereid::tt
