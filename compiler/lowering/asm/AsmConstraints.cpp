// Reads the constraints of inline assembly, and chooses one of their alternatives.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/asm/AsmText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace nereid;
using llvm::StringRef;

namespace {
using Codes = llvm::SmallVector<StringRef, 2>;

/// `=&r|m`: the prefix `=&` and the alternatives `r` and `m`.
struct Constraint {
  explicit Constraint(StringRef text);

  bool isResult() const { return prefix.contains('='); }
  /// The codes of an alternative: those of registers alone for a result.
  Codes codes(size_t alternative) const;

  StringRef text, prefix;
  llvm::SmallVector<Codes, 2> alternatives;
};
} // namespace

/// Takes one code: `r`, `{eax}`, `^Yz`, `12`.
static StringRef takeCode(StringRef &rest) {
  size_t length = 1;
  if (rest.front() == '{')
    length = rest.find('}') == StringRef::npos ? rest.size() : rest.find('}') + 1;
  else if (rest.front() == '^')
    length = 3;
  else if (llvm::isDigit(rest.front()))
    length = rest.take_while(llvm::isDigit).size();
  const StringRef code = rest.take_front(length);
  rest = rest.drop_front(code.size());
  return code;
}

Constraint::Constraint(StringRef text)
    : text(text), prefix(text.take_while([](char letter) { return StringRef("=~!*&%+").contains(letter); })) {
  alternatives.emplace_back();
  for (StringRef rest = text.drop_front(prefix.size()); !rest.empty();)
    if (rest.consume_front("|"))
      alternatives.emplace_back();
    else
      alternatives.back().push_back(takeCode(rest));
}

Codes Constraint::codes(size_t alternative) const {
  Codes chosen = alternatives.size() == 1 ? alternatives.front() : alternatives[alternative];
  if (isResult())
    llvm::erase_if(chosen, [](StringRef code) { return llvm::is_contained({"m", "o", "V", "<", ">"}, code); });
  return chosen;
}

static std::optional<std::string> findFault(const Constraint &constraint) {
  if (constraint.prefix.contains('*'))
    return ("`" + constraint.text + "` stands for memory behind a pointer; operands are values").str();
  if (constraint.prefix.contains('!'))
    return ("`" + constraint.text + "` stands for a label, and there are none").str();
  return std::nullopt;
}

/// Whether an alternative has codes for all constraints.
static bool isComplete(llvm::ArrayRef<Constraint> constraints, size_t alternative) {
  return llvm::all_of(constraints, [&](const Constraint &constraint) {
    const size_t count = constraint.alternatives.size();
    return (count == 1 || alternative < count) && !constraint.codes(alternative).empty();
  });
}

std::string lowering::chooseConstraints(StringRef constraints, std::optional<std::string> &fault) {
  llvm::SmallVector<StringRef> texts;
  constraints.split(texts, ',');
  const llvm::SmallVector<Constraint> all(texts.begin(), texts.end());
  size_t count = 1, chosen = 0;
  for (const Constraint &constraint : all) {
    count = std::max(count, constraint.alternatives.size());
    if ((fault = findFault(constraint)))
      return "";
  }
  while (chosen < count && !isComplete(all, chosen))
    ++chosen;
  if (chosen == count) {
    fault = "no alternative of its constraints has a register for each result";
    return "";
  }
  const auto written = llvm::map_range(all, [&](const Constraint &constraint) {
    return constraint.prefix.str() + llvm::join(constraint.codes(chosen), "");
  });
  return llvm::join(written, ",");
}
