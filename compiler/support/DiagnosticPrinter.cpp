// Prints a diagnostic for a terminal: position, message, code, source line, underlined range, notes.
// SPDX-License-Identifier: MIT
//
// Source text is untrusted: anything that is not printable is shown as an escape, so that no control sequence and no
// change of text direction reaches the terminal.
#include "compiler/support/Diagnostic.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace nereid::support {

// A longer line is cut to the part around the caret.
static constexpr uint32_t maxLineBytes = 160;
static constexpr uint32_t bytesBeforeCaret = 60;
static constexpr uint32_t bytesAfterCaret = 90;
static constexpr uint32_t tabColumns = 8;

namespace {
// One character of source: its printed form and width.
struct Glyph {
  uint32_t byteCount;
  std::string shown;
  uint32_t columns;
};
} // namespace

static Glyph escaped(uint32_t byteCount, std::string text) {
  uint32_t columns = static_cast<uint32_t>(text.size());
  return {byteCount, std::move(text), columns};
}

static std::string hex(uint32_t value, unsigned digits) { return llvm::utohexstr(value, /*LowerCase=*/false, digits); }

// The first character of a non-empty text.
static Glyph nextGlyph(llvm::StringRef text, uint32_t column) {
  auto first = static_cast<unsigned char>(text.front());
  if (first == '\t') {
    uint32_t columns = tabColumns - column % tabColumns;
    return {1, std::string(columns, ' '), columns};
  }
  if (first < 0x20 || first == 0x7f)
    return escaped(1, "\\x" + hex(first, 2));
  if (first < 0x80)
    return {1, std::string(1, text.front()), 1};
  const auto *cursor = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const auto *begin = cursor;
  llvm::UTF32 codepoint = 0;
  if (llvm::convertUTF8Sequence(&cursor, begin + text.size(), &codepoint, llvm::strictConversion) != llvm::conversionOK)
    return escaped(1, "\\x" + hex(first, 2));
  auto byteCount = static_cast<uint32_t>(cursor - begin);
  llvm::StringRef bytes = text.take_front(byteCount);
  int columns = llvm::sys::unicode::columnWidthUTF8(bytes);
  if (columns < 0)
    return escaped(byteCount, "<U+" + hex(codepoint, 4) + ">");
  return {byteCount, bytes.str(), static_cast<uint32_t>(columns)};
}

static std::string sanitized(llvm::StringRef text, bool keepLineBreaks) {
  std::string result;
  while (!text.empty()) {
    if (keepLineBreaks && text.front() == '\n') {
      result += '\n';
      text = text.drop_front();
      continue;
    }
    Glyph glyph = nextGlyph(text, 0);
    result += text.front() == '\t' ? " " : glyph.shown;
    text = text.drop_front(glyph.byteCount);
  }
  return result;
}

static bool isContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The part of the line to show; the whole line where it is short.
static SourceRange visiblePart(llvm::StringRef text, SourceRange line, uint32_t caret) {
  if (line.size() <= maxLineBytes)
    return line;
  SourceRange part = {caret > line.begin + bytesBeforeCaret ? caret - bytesBeforeCaret : line.begin,
                      std::min(line.end, caret + bytesAfterCaret)};
  while (part.begin > line.begin && isContinuationByte(text[part.begin]))
    --part.begin;
  while (part.end < line.end && isContinuationByte(text[part.end]))
    ++part.end;
  return part;
}

static void drawSourceLine(const Diagnostic &diagnostic, llvm::raw_ostream &os) {
  const SourceFile &file = *diagnostic.where.file;
  SourceRange range = diagnostic.where.range;
  uint32_t caret = diagnostic.caret.value_or(range.begin);
  SourceRange line = file.lineAround(caret);
  caret = std::min(caret, line.end);
  SourceRange part = visiblePart(file.text(), line, caret);

  std::string source, marks;
  if (part.begin > line.begin) {
    source = "...";
    marks = "   ";
  }
  uint32_t at = part.begin;
  while (at < part.end) {
    Glyph glyph = nextGlyph(file.text({at, part.end}), static_cast<uint32_t>(marks.size()));
    uint32_t next = at + glyph.byteCount;
    bool hasCaret = at <= caret && caret < next;
    std::string mark(glyph.columns, range.contains(at) ? '~' : ' ');
    if (hasCaret && !mark.empty())
      mark.front() = '^';
    source += glyph.shown;
    marks += mark;
    at = next;
  }
  if (caret == part.end)
    marks += '^';
  if (part.end < line.end)
    source += "...";
  // Columns in the user's file include the indentation that was removed from an extract.
  std::string indent(file.origin().removedColumns, ' ');
  os << indent << source << '\n' << indent << llvm::StringRef(marks).rtrim(' ') << '\n';
}

static void drawRange(FileRange where, std::optional<uint32_t> caret, llvm::raw_ostream &os) {
  if (!where)
    return;
  LineColumn position = where.file->position(caret.value_or(where.range.begin));
  os << sanitized(where.file->name(), false) << ':' << position.line << ':' << position.column << ": ";
}

void render(const Diagnostic &diagnostic, llvm::raw_ostream &os) {
  drawRange(diagnostic.where, diagnostic.caret, os);
  os << toString(diagnostic.severity()) << ": " << sanitized(diagnostic.message, true);
  os << " [" << diagnostic.code() << "]\n";
  if (diagnostic.where)
    drawSourceLine(diagnostic, os);
  for (const DiagnosticNote &note : diagnostic.notes) {
    drawRange(note.where, std::nullopt, os);
    os << "note: " << sanitized(note.message, true) << '\n';
  }
  if (!diagnostic.reproducer.empty())
    os << "note: please report it with " << sanitized(diagnostic.reproducer, true) << ", which repeats it\n";
}

} // namespace nereid::support
