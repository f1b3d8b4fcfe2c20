// Gathers what passes and targets say through MLIR, to become diagnostics of ours.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

#include "mlir/IR/Diagnostics.h"

namespace nereid::driver {

/// A message at an op's place in one of `sources`, those that called it as notes, as text.
std::string textAt(mlir::Location where, const support::DiagnosticKind &kind, std::string message,
                   const std::vector<std::shared_ptr<const support::SourceFile>> &sources);

/// Listens as long as it lives. It holds no diagnostics engine: the work that it listens to may outlast its caller.
class PassDiagnostics {
public:
  explicit PassDiagnostics(mlir::MLIRContext *context);

  using Sources = std::vector<std::shared_ptr<const support::SourceFile>>;
  /// Adds the errors to `engine`, each at its place in one of `sources` and of its own kind; of kind `otherwise`
  /// where it has none, or where nothing was said at all.
  void report(support::DiagnosticEngine &engine, const support::DiagnosticKind &otherwise,
              const Sources &sources) const;
  /// The same for remarks, where there are any.
  void reportRemarks(support::DiagnosticEngine &engine, const support::DiagnosticKind &otherwise,
                     const Sources &sources) const;

private:
  struct Message {
    bool isError;
    const support::DiagnosticKind *kind; ///< may be null
    mlir::Location where;
    std::string text;
    std::vector<std::string> notes;
  };
  std::vector<Message> messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nereid::driver
