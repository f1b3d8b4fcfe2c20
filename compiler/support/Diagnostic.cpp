// The list of diagnostics of one compilation.
// SPDX-License-Identifier: MIT
#include "compiler/support/Diagnostic.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <tuple>

namespace nereid::support {

llvm::StringRef toString(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  return "error";
}

llvm::StringRef toString(PythonError error) {
  switch (error) {
#define PYTHON_ERROR(name)                                                                                             \
  case PythonError::name:                                                                                              \
    return #name;
#include "compiler/support/PythonErrors.def"
  }
  return "CompilationError";
}

Diagnostic &DiagnosticEngine::add(const DiagnosticKind &kind, FileRange where, std::string message) {
  Diagnostic &diagnostic = diagnostics.emplace_back();
  diagnostic.kind = &kind;
  diagnostic.message = std::move(message);
  diagnostic.where = where;
  errors += diagnostic.isError();
  return diagnostic;
}

void DiagnosticEngine::sortByPosition(size_t first) {
  // The index keeps messages of one position in their order.
  using Key = std::tuple<bool, uint32_t, size_t>;
  std::vector<Key> order;
  for (size_t i = std::min(first, size()); i < size(); ++i)
    order.emplace_back(diagnostics[i].where.file == nullptr, diagnostics[i].where.range.begin, i);
  std::sort(order.begin(), order.end());
  std::deque<Diagnostic> sorted;
  for (const auto &[hasNoPlace, begin, index] : order)
    sorted.push_back(std::move(diagnostics[index]));
  std::move(sorted.begin(), sorted.end(), diagnostics.end() - static_cast<ptrdiff_t>(sorted.size()));
}

void DiagnosticEngine::truncate(size_t first) {
  while (diagnostics.size() > first) {
    errors -= diagnostics.back().isError();
    diagnostics.pop_back();
  }
}

void DiagnosticEngine::take(DiagnosticEngine &other) {
  for (Diagnostic &diagnostic : other.diagnostics)
    diagnostics.push_back(std::move(diagnostic));
  files.insert(files.end(), other.files.begin(), other.files.end());
  errors += other.errors;
  other.diagnostics.clear();
  other.files.clear();
  other.errors = 0;
}

std::string DiagnosticEngine::render() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Diagnostic &diagnostic : diagnostics)
    support::render(diagnostic, os);
  return text;
}

} // namespace nereid::support
