// Source text of a user and its position in the user's file.
// SPDX-License-Identifier: MIT
//
// A kernel's text is often an extract: lines from the middle of a file, with the common indentation removed. The
// compiler uses byte offsets into `text()` everywhere; this class alone converts them to the line and column that the
// user sees in an editor. Columns count bytes from 1, unlike Python's `ast`, which counts from 0.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::support {

// A half-open range of byte offsets into one source text.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool contains(uint32_t offset) const { return begin <= offset && offset < end; }
  bool operator==(const SourceRange &) const = default;
};

// From the start of `first` to the end of `last`.
inline SourceRange join(SourceRange first, SourceRange last) { return {first.begin, last.end}; }

// A position in the user's file; both count from 1.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;

  bool operator==(const LineColumn &) const = default;
};

// The position of the first byte of an extract in its file.
struct SourceOrigin {
  uint32_t firstLine = 1;
  // Columns that were removed from the front of every line.
  uint32_t removedColumns = 0;
};

class SourceFile {
public:
  // The limit of a source; a longer text is cut here and reported by the lexer.
  static constexpr size_t maxBytes = size_t{1} << 24;

  SourceFile(std::string name, std::string text, SourceOrigin origin = {});
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return contents; }
  llvm::StringRef text(SourceRange range) const { return llvm::StringRef(contents).slice(range.begin, range.end); }
  SourceOrigin origin() const { return start; }
  bool isTruncated() const { return truncated; }

  // The user's line and column of a byte; an offset past the end counts as the end.
  LineColumn position(uint32_t offset) const;
  // The byte at a user's line and column; nothing where the text has no such position.
  std::optional<uint32_t> offset(LineColumn position) const;

  // Range of the line that holds `offset`, without its line break.
  SourceRange lineAround(uint32_t offset) const;

private:
  uint32_t lineIndex(uint32_t offset) const;

  std::string fileName;
  std::string contents;
  SourceOrigin start;
  bool truncated = false;
  std::vector<uint32_t> lineStarts;
};

// A range together with its text; an empty one (no file) means "no position".
struct FileRange {
  const SourceFile *file = nullptr;
  SourceRange range;

  explicit operator bool() const { return file != nullptr; }
};

} // namespace nereid::support
