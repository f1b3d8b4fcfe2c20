// Reads from the diagnostics how a compilation ended.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Cancellation.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;

bool driver::isCancelled(const support::DiagnosticEngine &diagnostics) {
  return llvm::any_of(diagnostics.all(), [](const support::Diagnostic &diagnostic) {
    return diagnostic.isError() && (diagnostic.isInternal() || diagnostic.code() == "interrupted" ||
                                    diagnostic.code() == "out-of-memory" || diagnostic.code() == "assembler-timeout");
  });
}
