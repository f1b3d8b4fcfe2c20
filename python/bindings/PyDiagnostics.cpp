// Builds the dictionaries from which triton.compiler.errors makes exceptions.
// SPDX-License-Identifier: MIT
#include "python/bindings/PyDiagnostics.h"

#include "compiler/stdlib/Stdlib.h"

#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::python;
using support::Diagnostic;
using support::DiagnosticNote;
using support::FileRange;

// The note that sema adds to an error for each call around it, the innermost first.
static constexpr llvm::StringLiteral callNote = "called from here";

static void set(nb::handle dict, const char *key, nb::object value) {
  if (PyDict_SetItemString(dict.ptr(), key, value.ptr()) != 0)
    throw nb::python_error();
}
static nb::object numberOf(int64_t number) { return checked(PyLong_FromLongLong(number)); }

static void append(nb::handle list, nb::handle element) {
  if (PyList_Append(list.ptr(), element.ptr()) != 0)
    throw nb::python_error();
}

static void setRange(nb::handle dict, FileRange where) {
  if (!where)
    return;
  const support::LineColumn begin = where.file->position(where.range.begin);
  set(dict, "file", textOf(where.file->name()));
  set(dict, "line", numberOf(begin.line));
  set(dict, "column", numberOf(begin.column));
}

//--- Frames ------------------------------------------------------------------------------------

namespace {
/// The source text of the function that contains a location.
struct FunctionText {
  std::string name;
  support::SourceRange range;
};
} // namespace

static FunctionText functionAround(FileRange where, const PyHost *host) {
  for (const stdlib::Function &function : stdlib::functions())
    if (function.file.get() == where.file && function.definition->range.contains(where.range.begin))
      return {function.name.str(), function.definition->range};
  const auto size = static_cast<uint32_t>(where.file->text().size());
  return {host ? host->functionName(where.file) : std::string(), {0, size}};
}

/// Line from 1 and column from 0 within the function's own text.
static nb::object frameOf(FileRange where, const PyHost *host) {
  const FunctionText function = functionAround(where, host);
  const llvm::StringRef before =
      where.file->text({function.range.begin, std::max(where.range.begin, function.range.begin)});
  const size_t lastBreak = before.rfind('\n');
  nb::object frame = checked(PyDict_New());
  set(frame, "src", textOf(where.file->text(function.range)));
  set(frame, "name", textOf(function.name));
  set(frame, "line", numberOf(before.count('\n') + 1));
  set(frame, "column", numberOf(before.size() - (lastBreak == llvm::StringRef::npos ? 0 : lastBreak + 1)));
  return frame;
}

/// The calls that led to an error, the outermost first, and the error's own location last.
static nb::object framesOf(const Diagnostic &diagnostic, const PyHost *host) {
  nb::object frames = checked(PyList_New(0));
  for (const DiagnosticNote &note : llvm::reverse(diagnostic.notes))
    if (note.message == callNote && note.where)
      append(frames, frameOf(note.where, host));
  if (diagnostic.where)
    append(frames, frameOf(diagnostic.where, host));
  return frames;
}

static nb::object notesOf(const Diagnostic &diagnostic) {
  nb::object notes = checked(PyList_New(0));
  for (const DiagnosticNote &note : diagnostic.notes) {
    if (note.message == callNote)
      continue; // a frame
    nb::object entry = checked(PyDict_New());
    set(entry, "message", textOf(note.message));
    setRange(entry, note.where);
    append(notes, entry);
  }
  return notes;
}

//--- Entries -----------------------------------------------------------------------------------

/// The Python error that caused this message; null for sema's own.
static const sema::HostError *hostErrorOf(const Diagnostic &diagnostic, PyHost *host) {
  if (!host || diagnostic.code() != "host-exception")
    return nullptr;
  for (PyHost::Failure &failure : host->failures)
    if (!failure.reported && failure.error.message == diagnostic.message) {
      failure.reported = true;
      return &failure.error;
    }
  return nullptr;
}

static nb::object entryOf(const Diagnostic &diagnostic, PyHost *host) {
  nb::object entry = checked(PyDict_New());
  const llvm::StringRef severity = diagnostic.isInternal() ? "internal" : support::toString(diagnostic.severity());
  std::string rendered;
  llvm::raw_string_ostream stream(rendered);
  support::render(diagnostic, stream);
  set(entry, "code", textOf(diagnostic.code()));
  set(entry, "severity", textOf(severity));
  set(entry, "message", textOf(diagnostic.message));
  set(entry, "rendered", textOf(rendered));
  setRange(entry, diagnostic.where);
  if (diagnostic.where) {
    const support::LineColumn end = diagnostic.where.file->position(diagnostic.where.range.end);
    set(entry, "end_line", numberOf(end.line));
    set(entry, "end_column", numberOf(end.column));
  }
  set(entry, "frames", framesOf(diagnostic, host));
  set(entry, "notes", notesOf(diagnostic));
  if (!diagnostic.reproducer.empty())
    set(entry, "reproducer", textOf(diagnostic.reproducer));
  const sema::HostError *cause = hostErrorOf(diagnostic, host);
  set(entry, "python_error",
      textOf(cause ? cause->pythonClass : support::toString(diagnostic.kind->pythonError).str()));
  set(entry, "cause", cause && cause->exception ? nb::borrow(objectOf(cause->exception)) : nb::none());
  return entry;
}

static nb::object entriesOf(const support::DiagnosticEngine &diagnostics, PyHost *host) {
  nb::object entries = checked(PyList_New(0));
  for (const Diagnostic &diagnostic : diagnostics.all())
    append(entries, entryOf(diagnostic, host));
  return entries;
}

static nb::object callErrors(const char *function, const support::DiagnosticEngine &diagnostics, PyHost *host) {
  nb::object errors = checked(PyImport_ImportModule("triton.compiler.errors"));
  return checked(PyObject_CallMethod(errors.ptr(), function, "O", entriesOf(diagnostics, host).ptr()));
}

void nereid::python::raiseDiagnostics(const support::DiagnosticEngine &diagnostics, PyHost *host) {
  if (host)
    host->raiseInterrupt();
  nb::object exception = callErrors("from_diagnostics", diagnostics, host);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

void nereid::python::showWarnings(const support::DiagnosticEngine &diagnostics, PyHost *host) {
  if (diagnostics.size())
    callErrors("show_warnings", diagnostics, host);
}

void nereid::python::showRemarks(const support::DiagnosticEngine &diagnostics, PyHost *host) {
  try {
    callErrors("show_remarks", diagnostics, host);
  } catch (nb::python_error &error) { // the compilation goes on
    error.discard_as_unraisable("remarks");
  }
}
