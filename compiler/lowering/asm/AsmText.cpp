// Reads the placeholders of inline assembly as LLVM's printers do, which end the process where they cannot.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/asm/AsmText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <utility>

using namespace nereid;
using llvm::StringRef;

namespace {
/// Checks one text from its beginning to its end.
class AsmText {
public:
  AsmText(StringRef text, unsigned numOperands) : rest(text), numOperands(numOperands) {}

  std::optional<std::string> findFault();

private:
  std::optional<std::string> checkPlaceholder();
  std::optional<std::string> checkBraces();
  std::optional<std::string> checkNumber(StringRef written, StringRef digits) const;

  StringRef rest; ///< the text not checked yet
  const unsigned numOperands;
  bool inVariant = false; ///< within `$( ... $| ... $)`
};
} // namespace

std::optional<std::string> AsmText::checkNumber(StringRef written, StringRef digits) const {
  unsigned number;
  if (!digits.getAsInteger(10, number) && number < numOperands)
    return std::nullopt;
  return ("`" + written + "` names no operand; there are " + llvm::Twine(numOperands) + ", from `$0` on, results first")
      .str();
}

/// After `${`: `0}`, `0:x}`, `:uid}`.
std::optional<std::string> AsmText::checkBraces() {
  const size_t end = rest.find('}');
  if (end == StringRef::npos)
    return "`${` has no `}`";
  const StringRef inside = rest.take_front(end);
  rest = rest.drop_front(end + 1);
  const std::string written = ("${" + inside + "}").str();
  const auto [digits, modifier] = inside.split(':');
  if (digits.empty() && inside.starts_with(":")) {
    if (llvm::is_contained({"uid", "comment", "private"}, modifier))
      return std::nullopt;
    return "`" + written + "` is not known; there are `${:uid}`, `${:comment}` and `${:private}`";
  }
  if (inside.contains(':') && modifier.size() != 1)
    return "the modifier in `" + written + "` is not one letter";
  return checkNumber(written, digits);
}

/// After `$`.
std::optional<std::string> AsmText::checkPlaceholder() {
  if (rest.consume_front("$"))
    return std::nullopt;
  if (rest.consume_front("(")) {
    if (std::exchange(inVariant, true))
      return "`$(` is within another";
    return std::nullopt;
  }
  if (rest.consume_front("|"))
    return std::nullopt;
  if (rest.consume_front(")")) {
    inVariant = false;
    return std::nullopt;
  }
  if (rest.consume_front("{"))
    return checkBraces();
  const StringRef digits = rest.take_while(llvm::isDigit);
  rest = rest.drop_front(digits.size());
  if (digits.empty())
    return "`$` is followed by no operand's number; `$$` is a dollar sign";
  return checkNumber(("$" + digits).str(), digits);
}

std::optional<std::string> AsmText::findFault() {
  while (true) {
    const size_t at = rest.find('$');
    if (at == StringRef::npos)
      return inVariant ? std::optional<std::string>("`$(` has no `$)`") : std::nullopt;
    rest = rest.drop_front(at + 1);
    if (auto fault = checkPlaceholder())
      return fault;
  }
}

std::optional<std::string> lowering::findAsmFault(StringRef text, unsigned numOperands, const llvm::Triple &target) {
  if (text.contains('\0'))
    return "it has a zero byte";
  if (auto fault = AsmText(text, numOperands).findFault())
    return fault;
  return findDirectiveFault(text, target);
}
