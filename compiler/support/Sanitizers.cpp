// Parses and prints comma lists of sanitizers.
// SPDX-License-Identifier: MIT
#include "compiler/support/Sanitizers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace nereid::support;

static constexpr std::pair<llvm::StringLiteral, Sanitizer> words[] = {
    {"bounds", Bounds},      {"uninit", Uninit}, {"overflow", Overflow}, {"nan", Nan},
    {"nan-loads", NanLoads}, {"race", Race},     {"sync", Sync}};

std::optional<uint32_t> nereid::support::parseSanitizers(llvm::StringRef list, std::string &reason) {
  uint32_t set = 0;
  llvm::SmallVector<llvm::StringRef> names;
  list.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : names) {
    const auto *found = llvm::find_if(words, [&](const auto &known) { return known.first == word.trim(); });
    if (found == std::end(words)) {
      reason = "`" + word.trim().str() + "` is no sanitizer; there are " + sanitizerNames(~0u);
      return std::nullopt;
    }
    set |= found->second;
  }
  return set;
}

std::string nereid::support::sanitizerNames(uint32_t set) {
  std::string list;
  for (const auto &[word, bit] : words)
    if (set & bit)
      list += (list.empty() ? "" : ",") + word.str();
  return list;
}
