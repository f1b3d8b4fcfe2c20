// Parses and prints comma lists of sanitizers.
// SPDX-License-Identifier: MIT
#include "artifact/Sanitizers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nereid::artifact {

static constexpr std::pair<std::string_view, Sanitizer> words[] = {
    {"bounds", Bounds},      {"uninit", Uninit}, {"overflow", Overflow}, {"nan", Nan},
    {"nan-loads", NanLoads}, {"race", Race},     {"sync", Sync}};

/// Takes the first word of the list, without the spaces around it.
static std::string_view takeWord(std::string_view &list) {
  constexpr std::string_view spaces = " \t\n\v\f\r";
  std::string_view word = list.substr(0, list.find(','));
  list.remove_prefix(std::min(list.size(), word.size() + 1));
  word.remove_prefix(std::min(word.size(), word.find_first_not_of(spaces)));
  return word.substr(0, word.find_last_not_of(spaces) + 1);
}

std::optional<uint32_t> parseSanitizers(std::string_view list, std::string &reason) {
  uint32_t set = 0;
  while (!list.empty()) {
    const bool isEmpty = list.front() == ',';
    const std::string_view word = takeWord(list);
    const auto found = std::ranges::find(words, word, [](const auto &known) { return known.first; });
    if (found != std::end(words)) {
      set |= found->second;
    } else if (!isEmpty) {
      reason = "`" + std::string(word) + "` is no sanitizer; there are " + sanitizerNames(~0u);
      return std::nullopt;
    }
  }
  return set;
}

std::string sanitizerNames(uint32_t set) {
  std::string list;
  for (const auto &[word, bit] : words)
    if (set & bit)
      list += (list.empty() ? "" : ",") + std::string(word);
  return list;
}

} // namespace nereid::artifact
