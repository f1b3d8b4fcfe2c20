// The words of `sanitize` and what they check.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/Checks.h"

using namespace nereid::sim;

std::optional<uint32_t> nereid::sim::checksOf(std::string_view words) {
  static constexpr std::pair<std::string_view, Check> known[] = {
      {"bounds", CheckBounds}, {"uninit", CheckUninit}, {"race", CheckRace}, {"sync", CheckSync}};
  uint32_t set = 0;
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = std::min(words.find(',', begin), words.size());
    const std::string_view word = words.substr(begin, end - begin);
    bool isKnown = word.empty();
    for (auto [name, check] : known)
      if (word == name)
        set |= check, isKnown = true;
    if (!isKnown)
      return std::nullopt;
    begin = end + 1;
  }
  return set;
}

void nereid::sim::addChecks(Cluster &cluster, const std::shared_ptr<GridAccesses> &grid) {
  const uint32_t checks = cluster.launch->checks;
  if (checks & CheckBounds)
    cluster.observers.push_back(makeBoundsCheck(cluster));
  if (checks & CheckUninit) {
    if (std::shared_ptr<Observer> unwritten = makeUnwrittenCheck(cluster))
      cluster.observers.push_back(std::move(unwritten));
    cluster.observers.push_back(makeUninitCheck(cluster));
  }
  if (grid)
    cluster.observers.push_back(makeRaceCheck(cluster, grid, checks & CheckRace, checks & CheckSync));
  if (checks & CheckSync) {
    cluster.observers.push_back(makeSyncCheck(cluster));
    if (std::shared_ptr<Observer> registers = makeRegisterCheck(cluster))
      cluster.observers.push_back(std::move(registers));
  }
}
