// Recognises the words of a hand-written signature.
// SPDX-License-Identifier: MIT
#include "jit/SignatureWords.h"

#include "artifact/ElementType.h"
#include "compiler/support/NearestName.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace nereid::jit {

std::string meantType(std::string_view word) {
  auto named = artifact::elementNamed(word);
  if (!named)
    named = artifact::elementOfXlaName(word);
  if (named)
    return std::string(artifact::infoOf(*named).signature);
  support::NearestName nearest{llvm::StringRef(word)};
  for (const artifact::ElementInfo &info : artifact::kElementTypes)
    if (info.kind != artifact::ElementKind::None)
      nearest.add(info.signature);
  return nearest.name();
}

bool isNumber(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+'))
    word.remove_prefix(1);
  if (word == "inf" || word == "nan")
    return true;
  if (word.size() > 2 && word[0] == '0' && std::string_view("xXoObB").find(word[1]) != kNone)
    return word.find_first_not_of("0123456789abcdefABCDEF_", 2) == kNone;
  const auto skipDigits = [&] {
    size_t count = 0;
    for (; !word.empty() && (isDigit(word.front()) || word.front() == '_'); word.remove_prefix(1))
      ++count;
    return count;
  };
  size_t digits = skipDigits();
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    digits += skipDigits();
  }
  if (digits != 0 && (word.starts_with('e') || word.starts_with('E'))) {
    word.remove_prefix(1);
    if (word.starts_with('-') || word.starts_with('+'))
      word.remove_prefix(1);
    if (skipDigits() == 0)
      return false;
  }
  return digits != 0 && word.empty();
}

size_t stringEnd(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[begin])
      return i + 1;
  }
  return kNone;
}

size_t balancedEnd(std::string_view text, size_t begin) {
  std::string closers;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') {
      closers += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (closers.empty() || closers.back() != c)
        return kNone;
      closers.pop_back();
      if (closers.empty())
        return i + 1;
    } else if (c == '\'' || c == '"') {
      const size_t end = stringEnd(text, i);
      if (end == kNone)
        return kNone;
      i = end - 1;
    }
  }
  return kNone;
}

static int hexValue(char c) {
  const size_t digit = std::string_view("0123456789abcdef").find(c);
  return digit == kNone ? -1 : static_cast<int>(digit);
}

bool unescape(std::string_view inner, std::string &out) {
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      out += inner[i];
      continue;
    }
    if (++i == inner.size())
      return false;
    if (inner[i] == '\\' || inner[i] == '"') {
      out += inner[i];
      continue;
    }
    const int high = i + 2 < inner.size() ? hexValue(inner[i + 1]) : -1;
    const int low = i + 2 < inner.size() ? hexValue(inner[i + 2]) : -1;
    if (inner[i] != 'x' || high < 0 || low < 0)
      return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

} // namespace nereid::jit
