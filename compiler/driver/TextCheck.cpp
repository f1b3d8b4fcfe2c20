// Checks a module's text, token by token, before MLIR parses it.
// SPDX-License-Identifier: MIT
//
// MLIR recurses over brackets, and asks the element type of `array<...>` for its width, which `index` does not have.
#include "compiler/driver/TextCheck.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::driver;

/// Parser and verifier recurse over the text.
static constexpr unsigned maxNesting = 500;

namespace {
/// Words and single characters of a text, without blanks, comments and the contents of strings.
class Tokens {
public:
  explicit Tokens(llvm::StringRef text) : text(text) {}

  /// Empty at the end.
  llvm::StringRef next() {
    skipBlanks();
    const size_t begin = at;
    if (at == text.size())
      return {};
    if (text[at] == '"')
      skipString();
    else if (isWord(text[at]))
      at = std::min(text.find_if_not(isWord, at), text.size());
    else
      ++at;
    return text.slice(begin, at);
  }
  uint32_t offsetOf(llvm::StringRef token) const { return token.data() - text.data(); }

private:
  static bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '!' || c == '#'; }

  void skipBlanks() {
    while (at < text.size()) {
      if (text.substr(at).starts_with("//"))
        at = std::min(text.find('\n', at), text.size());
      else if (llvm::isSpace(text[at]))
        ++at;
      else
        return;
    }
  }

  void skipString() {
    while (++at < text.size() && text[at] != '"' && text[at] != '\n')
      at += text[at] == '\\';
    at = std::min(at + 1, text.size());
  }

  llvm::StringRef text;
  size_t at = 0;
};
} // namespace

/// Whether it names a type of numbers with a width: `i32`, `si8`, `f16`, `bf16`, `tf32`.
static bool hasWidth(llvm::StringRef type) {
  if (!type.consume_front("si") && !type.consume_front("ui") && !type.consume_front("i") && !type.consume_front("bf") &&
      !type.consume_front("tf") && !type.consume_front("f"))
    return false;
  return !type.empty() && llvm::isDigit(type.front());
}

std::optional<TextFault> driver::findFault(llvm::StringRef text) {
  Tokens tokens(text);
  unsigned depth = 0;
  llvm::StringRef last, beforeLast;
  for (llvm::StringRef token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (beforeLast == "array" && last == "<" && !hasWidth(token))
      return TextFault{
          tokens.offsetOf(token),
          ("an array attribute holds numbers, as `array<i32: 1>`, not `" + token.take_front(40) + "`").str()};
    if (llvm::is_contained({"(", "[", "{", "<"}, token) && ++depth > maxNesting)
      return TextFault{tokens.offsetOf(token), "brackets stand more than " + std::to_string(maxNesting) + " deep"};
    if (depth && (llvm::is_contained({")", "]", "}"}, token) || (token == ">" && last != "-")))
      --depth;
    beforeLast = last;
    last = token;
  }
  return std::nullopt;
}
