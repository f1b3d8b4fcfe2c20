// Finds the known name that a misspelt one was meant to be.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nereid::support {

/// Keeps the nearest of the candidates that it sees. A candidate qualifies if at most a third of the letters, and one
/// letter at most in short names, has to change; two neighbours in the wrong order count as one change.
class NearestName {
public:
  explicit NearestName(llvm::StringRef misspelt) : misspelt(misspelt), limit(misspelt.size() / 3 + 1) {}

  void add(llvm::StringRef candidate);
  template <typename Range> void addAll(const Range &candidates) {
    for (const auto &candidate : candidates)
      add(candidate);
  }

  /// Empty where no candidate is near.
  const std::string &name() const { return best; }
  /// The end of a message: "; did you mean `load`?", or nothing.
  std::string hint() const { return best.empty() ? "" : "; did you mean `" + best + "`?"; }

private:
  llvm::StringRef misspelt;
  unsigned limit; ///< the distance that a candidate must stay below
  std::string best;
};

} // namespace nereid::support
