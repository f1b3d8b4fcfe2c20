// The line table of PTX: which line of the user's source a line of PTX comes from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid::sim {

/// A position in a source file; line 0: unknown.
struct SourcePosition {
  std::string file;
  uint32_t line = 0, column = 0;

  explicit operator bool() const { return line != 0; }
  /// "add.py:9:5".
  std::string text() const;
};

/// The directives .file and .loc of a module.
class LineTable {
public:
  LineTable() = default;
  explicit LineTable(const std::vector<std::string> &lines);

  /// The position of a line of the PTX, then those of the calls that were inlined there, innermost first.
  std::vector<SourcePosition> positionsOf(uint32_t line) const;
  /// The first of those, which is that of the instruction itself.
  SourcePosition positionOf(uint32_t line) const;

private:
  struct Entry {
    uint32_t ptxLine = 0;
    uint32_t file = 0, line = 0, column = 0; ///< line 0: a function begins
    uint32_t callerFile = 0, callerLine = 0, callerColumn = 0;
  };
  void readFile(const std::string &text);
  void readLocation(const std::string &text, uint32_t ptxLine);
  const Entry *entryOf(uint32_t ptxLine) const;
  const Entry *entryAt(uint32_t file, uint32_t line, uint32_t column, const Entry *before) const;
  SourcePosition position(uint32_t file, uint32_t line, uint32_t column) const;

  std::map<uint32_t, std::string> files;
  std::vector<Entry> entries; ///< ascending by ptxLine
};

/// A line of a source file without its end; empty where the file cannot be read.
std::string sourceLine(const std::string &file, uint32_t line);

} // namespace nereid::sim
