// Reads placeholders and directives of inline assembly as LLVM's printers do.
// SPDX-License-Identifier: MIT
//
// LLVM ends the process at a placeholder that it cannot read, and expands directives without a limit.
#include "compiler/lowering/AsmText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

#include <algorithm>
#include <utility>

using namespace nereid;
using llvm::StringRef;

/// Repetitions and bytes that directives of one assembly may ask for.
static constexpr uint64_t maxGrowth = 1 << 16;

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

  StringRef rest; ///< what is not checked yet
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

/// A directive that makes text or bytes: how much, by its first argument, or not at all.
static std::optional<std::string> checkDirective(StringRef directive, StringRef arguments, uint64_t &growth) {
  if (llvm::is_contained({".macro", ".irp", ".irpc", ".include", ".incbin"}, directive))
    return ("`" + directive + "` is not supported in inline assembly").str();
  if (!llvm::is_contained({".rept", ".rep", ".fill", ".space", ".skip", ".zero", ".org", ".nops", ".ds", ".dcb"},
                          directive))
    return std::nullopt;
  uint64_t amount;
  if (!arguments.trim().split(',').first.trim().getAsInteger(0, amount) && amount <= maxGrowth &&
      (growth *= std::max<uint64_t>(amount, 1)) <= maxGrowth)
    return std::nullopt;
  return ("`" + directive + "` needs a number as its argument, and all of them together make " +
          llvm::Twine(maxGrowth) + " repetitions at most")
      .str();
}

static std::optional<std::string> findDirectiveFault(StringRef text) {
  uint64_t growth = 1;
  while (!text.empty()) {
    const size_t end = text.find_first_of("\n;");
    StringRef statement = text.take_front(end).ltrim();
    text = end == StringRef::npos ? StringRef() : text.drop_front(end + 1);
    while (statement.contains(':') && !statement.starts_with("."))
      statement = statement.split(':').second.ltrim(); // labels
    if (!statement.starts_with("."))
      continue;
    const StringRef word = statement.take_until(llvm::isSpace);
    if (auto fault = checkDirective(word.lower(), statement.drop_front(word.size()), growth))
      return fault;
  }
  return std::nullopt;
}

std::optional<std::string> lowering::findAsmFault(StringRef text, unsigned numOperands) {
  if (text.contains('\0'))
    return "it has a zero byte";
  if (auto fault = AsmText(text, numOperands).findFault())
    return fault;
  return findDirectiveFault(text);
}

std::optional<std::string> lowering::findConstraintFault(StringRef constraints) {
  for (const llvm::InlineAsm::ConstraintInfo &constraint : llvm::InlineAsm::ParseConstraints(constraints))
    if (constraint.isMultipleAlternative)
      return "it has alternatives (`|`); a constraint names one";
  return std::nullopt;
}
