// Diagnostics of a compilation: kinds with stable codes, messages, their list and their text form.
// SPDX-License-Identifier: MIT
//
// Each component keeps its kinds in a table `Diagnostics.def` of lines
//   DIAG(UndefinedName, Error, "undefined-name", "`{0}` is not defined; did you mean `{1}`?", NameError)
// that ends with #undef DIAG. cmake/Diagnostics.cmake turns it into constants in nereid::sema::diag: the header
// compiler/sema/Diagnostics.h below the build folder.
// A message is reported with `engine.report(diag::UndefinedName, {&file, range}, name, guess)`.
#pragma once

#include "compiler/support/SourceFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace nereid::support {

enum class Severity : uint8_t { Error, Warning, Remark, Note };
llvm::StringRef toString(Severity severity);

enum class PythonError : uint8_t {
#define PYTHON_ERROR(name) name,
#include "compiler/support/PythonErrors.def"
};
llvm::StringRef toString(PythonError error);

// One line of a component's Diagnostics.def.
struct DiagnosticKind {
  llvm::StringLiteral name;   // the C++ name, as in the table
  llvm::StringLiteral code;   // stable, documented, shown in brackets
  llvm::StringLiteral format; // for llvm::formatv; the hint follows a `;`
  Severity severity;
  PythonError pythonError;
};

#define NEREID_DECLARE_DIAGNOSTIC(name, severity, code, format, pythonError)                                           \
  inline constexpr ::nereid::support::DiagnosticKind name{#name, code, format, ::nereid::support::Severity::severity,  \
                                                          ::nereid::support::PythonError::pythonError};

struct DiagnosticNote {
  std::string message;
  FileRange where; // may be empty
};

struct Diagnostic {
  const DiagnosticKind *kind = nullptr;
  std::string message;
  FileRange where; // may be empty
  // The byte that `^` marks (such as an operator); the start of the range where not given.
  std::optional<uint32_t> caret;
  std::vector<DiagnosticNote> notes;
  std::string reproducer; // of an internal error: the file that repeats it; may be empty

  Severity severity() const { return kind->severity; }
  llvm::StringRef code() const { return kind->code; }
  bool isError() const { return kind->severity == Severity::Error; }
  bool isInternal() const { return kind->code == "internal-error"; } // a defect of the compiler, not of its input

  // Allow chained calls on the result of `report`.
  Diagnostic &pointAt(uint32_t offset) {
    caret = offset;
    return *this;
  }
  Diagnostic &note(std::string text, FileRange where = {}) {
    notes.push_back({std::move(text), where});
    return *this;
  }
};

// The messages of one compilation, in the order of reporting. The source files must outlive this list, or be kept by
// it.
class DiagnosticEngine {
public:
  DiagnosticEngine() = default;
  DiagnosticEngine(const DiagnosticEngine &) = delete;
  DiagnosticEngine &operator=(const DiagnosticEngine &) = delete;

  template <typename... Args> Diagnostic &report(const DiagnosticKind &kind, FileRange where, Args &&...args) {
    return add(kind, where, llvm::formatv(kind.format.data(), std::forward<Args>(args)...).str());
  }
  // For complete text, such as a message of an op's verifier.
  Diagnostic &add(const DiagnosticKind &kind, FileRange where, std::string message);

  // Moves the messages and the files of `other` here; `other` is empty afterwards.
  void take(DiagnosticEngine &other);

  // Keeps a file alive that messages refer to.
  void keep(std::shared_ptr<const SourceFile> file) { files.push_back(std::move(file)); }

  const std::deque<Diagnostic> &all() const { return diagnostics; }
  size_t size() const { return diagnostics.size(); }
  size_t errorCount() const { return errors; }
  bool hasErrors() const { return errors != 0; }

  // Sorts the messages from index `first` on into source order; those without a position come last.
  void sortByPosition(size_t first = 0);
  // Removes the messages from index `first` on (of a speculative evaluation that was discarded).
  void truncate(size_t first);

  std::string render() const;

private:
  std::deque<Diagnostic> diagnostics; // references stay valid while reporting
  size_t errors = 0;
  std::vector<std::shared_ptr<const SourceFile>> files;
};

// Prints the form that a terminal shows:
//   matmul.py:14:24: error: `a` has ..., `b` has ...; they must match [shape-mismatch]
//       v = a + b
//           ~~^~~
//   matmul.py:9:5: note: `a` created here
// Control characters of the source never reach the stream, and long lines are cut around the range.
void render(const Diagnostic &diagnostic, llvm::raw_ostream &os);

} // namespace nereid::support
