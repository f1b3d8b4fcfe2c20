// Limits what the directives of inline assembly ask for: LLVM expands `.rept 1000000000` without a limit.
// SPDX-License-Identifier: MIT
//
// Repetitions, macros and bytes are counted as the assembler would expand them, statement by statement.
#include "compiler/lowering/asm/AsmText.h"

#include "compiler/lowering/asm/AsmExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace nereid;
using llvm::StringRef;
using Fault = std::optional<std::string>;

/// Statements and bytes of one assembly after expansion.
static constexpr uint64_t maxGrowth = 1 << 16;

//--- statements --------------------------------------------------------------------------------

/// Comments become spaces and separators line ends; strings lose what is in them.
static std::string plainLines(StringRef text, StringRef comment, StringRef separator) {
  std::string lines;
  while (!text.empty()) {
    size_t length = 1;
    if (text.starts_with("/*")) {
      length = std::min(text.find("*/", 2), text.size() - 2) + 2;
      lines += ' ';
    } else if (text.starts_with("${")) { // a number, or a name that no other assembly has
      length = std::min(text.find('}'), text.size() - 1) + 1;
      lines += '_';
    } else if (text.starts_with("'") && text.substr(text.starts_with("'\\") ? 3 : 2).starts_with("'")) {
      length = text.starts_with("'\\") ? 4 : 3;
      lines += '0';
    } else if (text.starts_with("//") || text.starts_with(comment)) {
      length = std::min(text.find('\n'), text.size());
    } else if (text.front() == '"') {
      while (length < text.size() && text[length] != '"')
        length += text[length] == '\\' ? 2 : 1;
      ++length;
      lines += "\"\"";
    } else {
      lines += text.starts_with(separator) ? '\n' : text.front();
    }
    text = text.drop_front(std::min(length, text.size()));
  }
  return lines;
}

static bool isWordLetter(char letter) { return llvm::isAlnum(letter) || StringRef("._$@").contains(letter); }

/// The first word of a statement after its labels, and what follows it.
static std::pair<StringRef, StringRef> splitStatement(StringRef statement) {
  while (true) {
    statement = statement.trim();
    const StringRef word = statement.take_while(isWordLetter), rest = statement.drop_front(word.size()).ltrim();
    if (word.empty() || !rest.starts_with(":"))
      return {word, rest};
    statement = rest.drop_front();
  }
}

//--- what they ask for -------------------------------------------------------------------------

namespace {
/// A directive and which of its arguments says how many bytes it makes.
struct Maker {
  StringRef name;
  unsigned argument = 0;
  bool isPower = false; ///< the argument is a logarithm
};

/// Counts one text from its beginning to its end.
class Growth {
public:
  explicit Growth(bool alignsByPower) : alignsByPower(alignsByPower) {}
  Fault count(StringRef lines);

private:
  struct Repetition {
    uint64_t factor;    ///< with the factors of repetitions around it
    std::string macro;  ///< the macro that is being defined; empty for `.rept` and its like
    uint64_t outerCost; ///< of the text before the macro
  };

  Fault countStatement(StringRef word, StringRef arguments);
  Fault begin(StringRef directive, StringRef arguments);
  void end();
  Fault make(const Maker &maker, StringRef written, StringRef arguments);
  Fault add(uint64_t amount, StringRef what);
  const Maker *findMaker(StringRef directive) const;

  const bool alignsByPower;
  uint64_t cost = 0;
  unsigned distances = 0;  ///< arguments with labels: each is at most what all else makes
  bool hasSymbols = false; ///< with values, `x = 3`
  llvm::SmallVector<Repetition> open;
  llvm::StringMap<uint64_t> macros;    ///< the cost of each
  llvm::StringMap<bool> wordsOfMacros; ///< first words in their bodies
};
} // namespace

static std::string tooMuch(StringRef what) {
  return ("`" + what + "` makes the assembly more than " + llvm::Twine(maxGrowth) + " statements and bytes").str();
}

Fault Growth::add(uint64_t amount, StringRef what) {
  const uint64_t factor = open.empty() ? 1 : open.back().factor;
  if (amount > maxGrowth || (cost += factor * amount) > maxGrowth)
    return tooMuch(what);
  return std::nullopt;
}

const Maker *Growth::findMaker(StringRef directive) const {
  static constexpr Maker makers[] = {{".fill"},
                                     {".space"},
                                     {".skip"},
                                     {".zero"},
                                     {".org"},
                                     {".nops"},
                                     {".balign"},
                                     {".balignw"},
                                     {".balignl"},
                                     {".comm", 1},
                                     {".lcomm", 1},
                                     {".p2align", 0, true},
                                     {".p2alignw", 0, true},
                                     {".p2alignl", 0, true},
                                     {".bundle_align_mode", 0, true}};
  static constexpr Maker byPower{".align", 0, true}, byBytes{".align"}, data{".dcb"};
  if (directive == ".align")
    return alignsByPower ? &byPower : &byBytes;
  for (StringRef each : {".ds", ".dcb"}) // `.dcb.b`, `.ds.x`
    if (directive == each || directive.starts_with((each + ".").str()))
      return &data;
  const auto *found = llvm::find_if(makers, [&](const Maker &maker) { return maker.name == directive; });
  return found == std::end(makers) ? nullptr : found;
}

Fault Growth::make(const Maker &maker, StringRef written, StringRef arguments) {
  llvm::SmallVector<StringRef> all;
  arguments.split(all, ',');
  if (maker.argument >= all.size())
    return std::nullopt; // the assembler's error
  const auto value = lowering::evaluateAsm(all[maker.argument]);
  if (!value)
    return ("the argument of `" + written + "` is no number that is known here").str();
  distances += value->hasLabels;
  const uint64_t number = std::max<int64_t>(value->number, 0);
  return add(!maker.isPower ? number : number < 32 ? uint64_t{1} << number : maxGrowth + 1, written);
}

/// `.rept 3`, `.irp x, a, b`, `.irpc x, abc`, `.macro name parameters`.
Fault Growth::begin(StringRef directive, StringRef arguments) {
  const uint64_t outer = open.empty() ? 1 : open.back().factor;
  if (directive == ".macro") {
    const StringRef name = arguments.take_while(isWordLetter);
    if (!open.empty() || wordsOfMacros.contains(name) || macros.contains(name))
      return ("the macro `" + name + "` is defined within a repetition, again, or after its use").str();
    open.push_back({1, name.str(), cost});
    cost = 0;
    return std::nullopt;
  }
  uint64_t times = 0;
  if (directive == ".rept" || directive == ".rep") {
    const auto value = lowering::evaluateAsm(arguments);
    if (!value || value->hasLabels)
      return ("the argument of `" + directive + "` is no number that is known here").str();
    times = std::max<int64_t>(value->number, 0);
  } else {
    const StringRef values = arguments.split(',').second.trim();
    times = directive == ".irpc" ? values.size() : values.count(',') + 1;
  }
  if (times > maxGrowth || outer * times > maxGrowth)
    return tooMuch(directive);
  open.push_back({outer * times, "", 0});
  return std::nullopt;
}

void Growth::end() {
  const Repetition last = open.pop_back_val();
  if (last.macro.empty())
    return;
  macros[last.macro] = cost;
  cost = last.outerCost;
}

Fault Growth::countStatement(StringRef word, StringRef arguments) {
  const std::string directive = word.lower();
  if (llvm::is_contained({".include", ".incbin", ".altmacro"}, directive))
    return ("`" + word + "` is not supported in inline assembly").str();
  if (llvm::is_contained({".rept", ".rep", ".irp", ".irpc", ".macro"}, directive))
    return begin(directive, arguments);
  if (llvm::is_contained({".endr", ".endm", ".endmacro"}, directive)) {
    if (!open.empty())
      end();
    return std::nullopt; // without a beginning: the assembler's error
  }
  const bool isInMacro = !open.empty() && !open.front().macro.empty();
  if (isInMacro && word.empty() && arguments.starts_with("\\"))
    return "a statement of a macro begins with one of its parameters";
  if (isInMacro)
    wordsOfMacros[word] = true;
  if (isInMacro && open.front().macro == word)
    return ("the macro `" + word + "` uses itself").str();
  if (directive == ".purgem")
    macros.erase(arguments.trim());
  if (const Maker *maker = findMaker(directive))
    return make(*maker, word, arguments);
  const auto macro = macros.find(word);
  hasSymbols |= arguments.starts_with("=") || llvm::is_contained({".set", ".equ", ".equiv", ".eqv"}, directive);
  return add(macro == macros.end() ? 1 : std::max<uint64_t>(macro->second, 1), word);
}

Fault Growth::count(StringRef lines) {
  while (!lines.empty()) {
    StringRef statement;
    std::tie(statement, lines) = lines.split('\n');
    const auto [word, arguments] = splitStatement(statement);
    if (word.empty() && arguments.empty())
      continue;
    if (Fault fault = countStatement(word, arguments))
      return fault;
  }
  if (distances && hasSymbols)
    return "a directive's argument has symbols, and others are given values";
  if (distances > 16 || cost << distances > maxGrowth)
    return "distances between labels make the assembly too long";
  return std::nullopt;
}

Fault lowering::findDirectiveFault(StringRef text, const llvm::Triple &target) {
  if (target.isNVPTX())
    return std::nullopt; // another assembler reads it
  const bool isAmd = target.isAMDGPU(), isArm = target.isAArch64();
  const std::string lines = plainLines(text, isAmd ? ";" : isArm ? "//" : "#", isAmd ? "\n" : ";");
  return Growth(isArm).count(lines);
}
