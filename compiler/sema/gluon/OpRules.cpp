// Errors of ops and attributes as texts, which built-ins report at their calls.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/OpRules.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace nereid::sema {

std::string errorOf(mlir::MLIRContext *context, llvm::function_ref<void()> run) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      message = diagnostic.str();
    return mlir::success();
  });
  run();
  return message;
}

std::string withoutOp(llvm::StringRef message) {
  const size_t end = message.find("' op ");
  return (message.starts_with("'") && end != llvm::StringRef::npos ? message.drop_front(end + 5) : message).str();
}

std::optional<std::string> brokenRule(mlir::Operation *op) {
  bool isGood = true;
  const std::string message =
      errorOf(op->getContext(), [&] { isGood = mlir::succeeded(mlir::verify(op, /*verifyRecursively=*/false)); });
  return isGood ? std::nullopt : std::optional(withoutOp(message));
}

} // namespace nereid::sema
