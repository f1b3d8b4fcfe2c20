// A host without Python: a .py file whose module level is evaluated by sema's own evaluator.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/HostEnv.h"
#include "compiler/support/Diagnostic.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::sema {

/// Evaluates module-level imports, constants and functions of one file, and of the files that it imports relatively.
/// Names are evaluated at first use.
class FileHost : public HostEnv {
public:
  /// Parses `path`; null after an error.
  static std::unique_ptr<FileHost> open(const std::string &path, support::DiagnosticEngine &diagnostics);
  /// As above, for source text in memory.
  static std::unique_ptr<FileHost> fromText(std::string name, std::string text, support::DiagnosticEngine &diagnostics);

  /// The value of an expression made of literals and names of `tl` ("1024", "-1.5", "tl.float16"); nothing for others.
  static std::optional<Value> constant(const std::string &text);

  /// The function of that name at module level; null where there is none.
  virtual std::shared_ptr<JitFunction> function(llvm::StringRef name) = 0;
  /// The file, and every other file whose names it can import: all sources that a kernel of it can depend on.
  virtual std::vector<std::shared_ptr<const support::SourceFile>> files() = 0;
  /// The names of all functions decorated with `jit`, for messages.
  virtual std::vector<std::string> kernelNames() const = 0;
};

} // namespace nereid::sema
