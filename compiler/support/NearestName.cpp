// Compares names by their edit distance.
// SPDX-License-Identifier: MIT
#include "compiler/support/NearestName.h"

using namespace nereid::support;

/// Whether two names differ by one pair of neighbours in the other order.
static bool isSwapped(llvm::StringRef a, llvm::StringRef b) {
  if (a.size() != b.size())
    return false;
  size_t at = 0;
  while (at < a.size() && a[at] == b[at])
    ++at;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] && a.substr(at + 2) == b.substr(at + 2);
}

void NearestName::add(llvm::StringRef candidate) {
  if (candidate.empty() || limit == 0)
    return;
  const unsigned distance =
      isSwapped(misspelt, candidate) ? 1 : misspelt.edit_distance(candidate, /*AllowReplacements=*/true, limit);
  if (distance >= limit)
    return;
  best = candidate.str();
  limit = distance;
}
