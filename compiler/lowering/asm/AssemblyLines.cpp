// Parses .file and .loc directives.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/asm/AssemblyLines.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nereid;

namespace {
/// ".loc 1 14 24": file, line and column.
struct Position {
  unsigned file = 0, line = 0, column = 0;
};
} // namespace

static std::optional<Position> positionIn(StringRef text) {
  Position position;
  if (!text.consume_front(".loc"))
    return std::nullopt;
  for (unsigned *number : {&position.file, &position.line, &position.column}) {
    text = text.ltrim();
    if (text.consumeInteger(10, *number))
      return std::nullopt;
  }
  return position;
}

/// The number and path of ".file 1 "/folder/kernel.py"", or of ".file 1 "/folder" "kernel.py"".
static std::optional<std::pair<unsigned, std::string>> fileIn(StringRef text) {
  unsigned number = 0;
  if (!text.consume_front(".file"))
    return std::nullopt;
  text = text.ltrim();
  if (text.consumeInteger(10, number) || !text.ltrim().starts_with("\""))
    return std::nullopt;
  text = text.ltrim().drop_front();
  auto [first, rest] = text.split('"');
  auto name = rest.split('"').second.split('"').first;
  const bool isWhole = name.empty() || name.starts_with("/") || first.empty();
  if (name.empty())
    return std::pair(number, first.str());
  return std::pair(number, isWhole ? name.str() : (first + "/" + name).str());
}

Location lowering::locationOfLine(StringRef assembly, unsigned line, Location otherwise) {
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  std::optional<Position> last;
  llvm::DenseMap<unsigned, std::string> files;
  for (auto [index, text] : llvm::enumerate(lines)) {
    text = text.trim();
    if (auto file = fileIn(text)) // these may follow the code
      files[file->first] = file->second;
    if (index < line)
      if (auto position = positionIn(text); position && position->line)
        last = position;
  }
  if (!last || line == 0 || !files.contains(last->file))
    return otherwise;
  return FileLineColLoc::get(otherwise.getContext(), files[last->file], last->line, last->column);
}

std::string lowering::atLine(unsigned line) { return line ? " at line " + std::to_string(line) : ""; }
