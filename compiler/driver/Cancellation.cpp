// Reads from the diagnostics how a compilation ended, and reports shortages of memory.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Cancellation.h"

#include "compiler/support/Diagnostics.h"
#include "compiler/support/MemoryReserve.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;

bool driver::isCancelled(const support::DiagnosticEngine &diagnostics) {
  return llvm::any_of(diagnostics.all(), [](const support::Diagnostic &diagnostic) {
    return diagnostic.isError() &&
           (diagnostic.isInternal() ||
            llvm::is_contained({"interrupted", "out-of-memory", "assembler-timeout", "asm-failed"}, diagnostic.code()));
  });
}

void driver::reportOutOfMemory(llvm::StringRef name, support::DiagnosticEngine &diagnostics) {
  diagnostics.report(support::diag::OutOfMemory, {}, name, support::reasonOfShortage());
}

bool driver::checkCompiler(support::DiagnosticEngine &diagnostics) {
  if (support::isCompilerLost())
    diagnostics.report(support::diag::OutOfMemoryBefore, {});
  return !support::isCompilerLost();
}
