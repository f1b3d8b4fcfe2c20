// Attaches a diagnostic's kind as its metadata, which MLIR passes on and never prints.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"

using namespace nereid;

mlir::InFlightDiagnostic tt::reportText(mlir::Location where, const support::DiagnosticKind &kind,
                                        llvm::StringRef text) {
  const bool isRemark = kind.severity != support::Severity::Error;
  mlir::InFlightDiagnostic diagnostic = isRemark ? mlir::emitRemark(where) : mlir::emitError(where);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(uint64_t{reinterpret_cast<uintptr_t>(&kind)});
  diagnostic << text;
  return diagnostic;
}

const support::DiagnosticKind *tt::kindOf(mlir::Diagnostic &diagnostic) {
  using Argument = mlir::DiagnosticArgument;
  for (const Argument &entry : diagnostic.getMetadata())
    if (entry.getKind() == Argument::DiagnosticArgumentKind::Unsigned)
      return reinterpret_cast<const support::DiagnosticKind *>(static_cast<uintptr_t>(entry.getAsUnsigned()));
  return nullptr;
}
