// Finds the user's source ranges for MLIR's locations.
// SPDX-License-Identifier: MIT
#include "compiler/driver/PassDiagnostics.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/support/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"

using namespace nereid;
using namespace nereid::driver;
using mlir::FileLineColRange;

PassDiagnostics::PassDiagnostics(mlir::MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        const bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        const support::DiagnosticKind *kind = tt::kindOf(diagnostic);
        if (!isError && !kind)
          return mlir::success(); // MLIR's own warnings and remarks
        Message message{isError, kind, diagnostic.getLocation(), diagnostic.str(), {}};
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          message.notes.push_back(note.str());
        messages.push_back(std::move(message));
        return mlir::success();
      }) {}

/// The positions in a location, the callee's own before those of its callers.
static void collect(mlir::Location location, llvm::SmallVectorImpl<FileLineColRange> &positions) {
  if (auto range = llvm::dyn_cast<FileLineColRange>(location)) {
    positions.push_back(range);
  } else if (auto named = llvm::dyn_cast<mlir::NameLoc>(location)) {
    collect(named.getChildLoc(), positions);
  } else if (auto site = llvm::dyn_cast<mlir::CallSiteLoc>(location)) {
    collect(site.getCallee(), positions);
    collect(site.getCaller(), positions);
  } else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
    const size_t before = positions.size();
    for (mlir::Location inner : fused.getLocations())
      if (positions.size() == before)
        collect(inner, positions);
  }
}

/// Empty where none of the sources has that position.
static support::FileRange rangeOf(const PassDiagnostics::Sources &sources, FileLineColRange position) {
  for (const std::shared_ptr<const support::SourceFile> &file : sources) {
    if (file->name() != position.getFilename().strref())
      continue;
    const auto begin = file->offset({position.getStartLine(), position.getStartColumn()});
    const auto end = file->offset({position.getEndLine(), position.getEndColumn()});
    if (begin && end)
      return {file.get(), {*begin, std::max(*begin, *end)}};
  }
  return {};
}

/// The message, with its position in front where there is no source to show it in.
static std::string withPositions(llvm::StringRef text, llvm::ArrayRef<FileLineColRange> positions) {
  if (positions.empty())
    return text.str();
  const FileLineColRange first = positions.front();
  return llvm::formatv("{0}:{1}:{2}: {3}", first.getFilename().strref(), first.getStartLine(), first.getStartColumn(),
                       text);
}

/// One message as a diagnostic: the callers of its position are notes.
template <typename Message>
static support::Diagnostic &add(support::DiagnosticEngine &engine, const support::DiagnosticKind &kind,
                                const Message &message, const PassDiagnostics::Sources &sources) {
  llvm::SmallVector<FileLineColRange> positions;
  collect(message.where, positions);
  llvm::SmallVector<support::FileRange> ranges;
  for (FileLineColRange position : positions)
    if (support::FileRange range = rangeOf(sources, position))
      ranges.push_back(range);
  support::Diagnostic &added = ranges.empty() ? engine.add(kind, {}, withPositions(message.text, positions))
                                              : engine.add(kind, ranges.front(), message.text);
  for (const std::string &note : message.notes)
    added.note(note);
  for (size_t caller = 1; caller < ranges.size(); ++caller)
    added.note("called from here", ranges[caller]);
  return added;
}

static void keepAll(support::DiagnosticEngine &engine, const PassDiagnostics::Sources &sources) {
  for (const std::shared_ptr<const support::SourceFile> &file : sources)
    engine.keep(file);
}

/// The position of the call into the library; the location itself where it is outside of the library, or all of it is
/// inside.
static mlir::Location outsideLibrary(mlir::Location where) {
  auto site = llvm::dyn_cast<mlir::CallSiteLoc>(where);
  if (!site)
    return where;
  llvm::SmallVector<FileLineColRange> positions;
  collect(site.getCallee(), positions);
  const bool isLibrary = llvm::all_of(
      positions, [](FileLineColRange position) { return position.getFilename().strref().starts_with("<nereid>/"); });
  return isLibrary ? outsideLibrary(site.getCaller()) : where;
}

std::string driver::textAt(mlir::Location where, const support::DiagnosticKind &kind, std::string message,
                           const std::vector<std::shared_ptr<const support::SourceFile>> &sources) {
  struct {
    mlir::Location where;
    std::string text;
    std::vector<std::string> notes;
  } complete{where, std::move(message), {}};
  support::DiagnosticEngine engine;
  complete.where = outsideLibrary(where);
  add(engine, kind, complete, sources);
  return engine.render();
}

void PassDiagnostics::reportErrors(support::DiagnosticEngine &engine, const Sources &sources, llvm::StringRef phase,
                                   llvm::function_ref<std::string(llvm::StringRef)> writeReproducer) const {
  keepAll(engine, sources);
  const size_t before = engine.size();
  std::optional<Message> defect;
  for (const Message &message : messages) {
    if (message.isError && message.kind)
      add(engine, *message.kind, message, sources);
    else if (message.isError && defect)
      defect->notes.push_back(message.text);
    else if (message.isError)
      defect = message;
  }
  if (engine.size() != before)
    return; // errors without a kind then follow from these, as "failed to legalize"
  const std::string text = defect ? defect->text : "it failed without a message";
  const auto complete = [&] { return llvm::formatv(support::diag::InternalError.format.data(), phase, text).str(); };
  support::Diagnostic *added = nullptr;
  if (defect) {
    defect->text = complete();
    added = &add(engine, support::diag::InternalError, *defect, sources);
  } else {
    added = &engine.add(support::diag::InternalError, {}, complete());
  }
  added->reproducer = writeReproducer(text);
}

void PassDiagnostics::reportRemarks(support::DiagnosticEngine &engine, const Sources &sources) const {
  keepAll(engine, sources);
  for (const Message &message : messages)
    if (!message.isError && message.kind->severity != support::Severity::Note)
      add(engine, *message.kind, message, sources);
}

void PassDiagnostics::forEachRemark(Visitor visit) const {
  for (const Message &message : messages)
    if (!message.isError)
      visit(message.where, *message.kind, message.text);
}
