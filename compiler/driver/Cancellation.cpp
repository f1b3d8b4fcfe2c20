// Reads from the diagnostics how a compilation ended.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Cancellation.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;

bool driver::isCancelled(const support::DiagnosticEngine &diagnostics) {
  return llvm::any_of(diagnostics.all(), [](const support::Diagnostic &diagnostic) {
    return diagnostic.isError() &&
           (diagnostic.isInternal() ||
            llvm::is_contained({"interrupted", "out-of-memory", "assembler-timeout", "asm-failed"}, diagnostic.code()));
  });
}
