// Collects what passes and targets emit through MLIR, and converts it to diagnostics.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

#include "mlir/IR/Diagnostics.h"

namespace nereid::driver {

/// A message at an op's position in one of `sources`, with the positions that called it as notes, as text.
std::string textAt(mlir::Location where, const support::DiagnosticKind &kind, std::string message,
                   const std::vector<std::shared_ptr<const support::SourceFile>> &sources);

/// Collects diagnostics during its lifetime. It holds no diagnostics engine: the compilation may outlive its caller.
class PassDiagnostics {
public:
  explicit PassDiagnostics(mlir::MLIRContext *context);

  using Sources = std::vector<std::shared_ptr<const support::SourceFile>>;
  /// Adds the errors of a failed phase to `engine`, each at its position in one of `sources` and with its own kind.
  /// Without such an error the failure is a defect of the compiler: errors without a kind, of verifiers and of
  /// invariants, become one internal error. `writeReproducer` then gets the defect and returns a file's path.
  void reportErrors(support::DiagnosticEngine &engine, const Sources &sources, llvm::StringRef phase,
                    llvm::function_ref<std::string(llvm::StringRef)> writeReproducer) const;
  /// Adds the remarks in the same way, if any; notes are for explanations only.
  void reportRemarks(support::DiagnosticEngine &engine, const Sources &sources) const;

  using Visitor = llvm::function_ref<void(mlir::Location, const support::DiagnosticKind &, llvm::StringRef)>;
  /// Calls `visit` for each remark and note so far.
  void forEachRemark(Visitor visit) const;

private:
  struct Message {
    bool isError;
    const support::DiagnosticKind *kind; ///< null for an error of our own defect
    mlir::Location where;
    std::string text;
    std::vector<std::string> notes;
  };
  std::vector<Message> messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nereid::driver
