// Line table of a source text, and the mapping between bytes and the user's lines.
// SPDX-License-Identifier: MIT
#include "compiler/support/SourceFile.h"

#include <algorithm>

namespace nereid::support {

// "\n", "\r\n" and a lone "\r" end a line, as in Python.
static std::vector<uint32_t> findLineStarts(llvm::StringRef text) {
  std::vector<uint32_t> starts{0};
  for (size_t i = 0; i < text.size(); ++i) {
    bool endsLine = text[i] == '\n' || (text[i] == '\r' && !(i + 1 < text.size() && text[i + 1] == '\n'));
    if (endsLine)
      starts.push_back(static_cast<uint32_t>(i + 1));
  }
  return starts;
}

SourceFile::SourceFile(std::string name, std::string text, SourceOrigin origin)
    : fileName(std::move(name)), contents(std::move(text)), start(origin) {
  if (contents.size() > maxBytes) {
    contents.resize(maxBytes);
    truncated = true;
  }
  lineStarts = findLineStarts(contents);
}

uint32_t SourceFile::lineIndex(uint32_t offset) const {
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  return static_cast<uint32_t>(next - lineStarts.begin()) - 1;
}

LineColumn SourceFile::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(contents.size()));
  uint32_t index = lineIndex(offset);
  return {start.firstLine + index, offset - lineStarts[index] + 1 + start.removedColumns};
}

std::optional<uint32_t> SourceFile::offset(LineColumn position) const {
  if (position.line < start.firstLine || position.line - start.firstLine >= lineStarts.size() ||
      position.column <= start.removedColumns)
    return std::nullopt;
  SourceRange line = lineAround(lineStarts[position.line - start.firstLine]);
  uint32_t column = position.column - start.removedColumns - 1;
  if (column > line.size())
    return std::nullopt;
  return line.begin + column;
}

SourceRange SourceFile::lineAround(uint32_t offset) const {
  uint32_t size = static_cast<uint32_t>(contents.size());
  uint32_t index = lineIndex(std::min(offset, size));
  uint32_t end = index + 1 < lineStarts.size() ? lineStarts[index + 1] : size;
  uint32_t begin = lineStarts[index];
  while (end > begin && (contents[end - 1] == '\n' || contents[end - 1] == '\r'))
    --end;
  return {begin, end};
}

} // namespace nereid::support
