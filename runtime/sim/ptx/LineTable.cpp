// Reads .file and .loc directives, which compilers write on lines of their own.
// SPDX-License-Identifier: MIT
#include "runtime/sim/ptx/LineTable.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace nereid::sim;

std::string SourcePosition::text() const {
  return file + ":" + std::to_string(line) + (column ? ":" + std::to_string(column) : "");
}

//--- reading -------------------------------------------------------------------------------

LineTable::LineTable(const std::vector<std::string> &lines) {
  for (size_t index = 0; index < lines.size(); ++index) {
    const std::string &line = lines[index];
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] != '.')
      continue;
    const uint32_t ptxLine = uint32_t(index + 1);
    const auto is = [&](const char *directive) {
      const size_t length = std::char_traits<char>::length(directive);
      return line.compare(begin, length, directive) == 0 && line.find_first_of(" \t", begin) == begin + length;
    };
    if (is(".loc"))
      readLocation(line.substr(begin + 4), ptxLine);
    else if (is(".file"))
      readFile(line.substr(begin + 5));
    else if (line.find(".entry ") != std::string::npos || line.find(".func ") != std::string::npos)
      entries.push_back({ptxLine});
  }
}

/// `1 "/path/of/file"`, with a time and a size perhaps.
void LineTable::readFile(const std::string &text) {
  const size_t begin = text.find('"'), end = text.find('"', begin + 1);
  if (end != std::string::npos)
    files[uint32_t(std::strtoul(text.c_str(), nullptr, 10))] = text.substr(begin + 1, end - begin - 1);
}

/// `1 9 5`, or `1 4 5, function_name label, inlined_at 1 9 19`.
void LineTable::readLocation(const std::string &text, uint32_t ptxLine) {
  Entry entry{ptxLine};
  if (std::sscanf(text.c_str(), "%u %u %u", &entry.file, &entry.line, &entry.column) < 2)
    return;
  if (const size_t at = text.find("inlined_at"); at != std::string::npos)
    std::sscanf(text.c_str() + at + 10, "%u %u %u", &entry.callerFile, &entry.callerLine, &entry.callerColumn);
  if (entry.line)
    entries.push_back(entry);
}

//--- lookup --------------------------------------------------------------------------------

const LineTable::Entry *LineTable::entryOf(uint32_t ptxLine) const {
  auto after = std::upper_bound(entries.begin(), entries.end(), ptxLine,
                                [](uint32_t line, const Entry &entry) { return line < entry.ptxLine; });
  return after == entries.begin() || !std::prev(after)->line ? nullptr : &*std::prev(after);
}

/// A call that was inlined itself has an earlier .loc of its own.
const LineTable::Entry *LineTable::entryAt(uint32_t file, uint32_t line, uint32_t column, const Entry *before) const {
  while (before != entries.data())
    if (--before; before->file == file && before->line == line && before->column == column)
      return before;
  return nullptr;
}

SourcePosition LineTable::position(uint32_t file, uint32_t line, uint32_t column) const {
  auto found = files.find(file);
  return {found == files.end() ? "file " + std::to_string(file) : found->second, line, column};
}

std::vector<SourcePosition> LineTable::positionsOf(uint32_t ptxLine) const {
  std::vector<SourcePosition> result;
  const Entry *entry = entryOf(ptxLine);
  if (entry)
    result.push_back(position(entry->file, entry->line, entry->column));
  while (entry && entry->callerLine) {
    result.push_back(position(entry->callerFile, entry->callerLine, entry->callerColumn));
    entry = entryAt(entry->callerFile, entry->callerLine, entry->callerColumn, entry);
  }
  return result;
}

SourcePosition LineTable::positionOf(uint32_t ptxLine) const {
  const Entry *entry = entryOf(ptxLine);
  return entry ? position(entry->file, entry->line, entry->column) : SourcePosition();
}

std::string nereid::sim::sourceLine(const std::string &file, uint32_t line) {
  std::ifstream stream(file);
  std::string text;
  for (uint32_t index = 0; index < line; ++index)
    if (!std::getline(stream, text))
      return {};
  return text;
}
