// Vector clocks: joins of sorted pages.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/Clocks.h"

using namespace nereid::sim;

const Clock::Page *Clock::find(uint32_t cluster) const {
  if (pages.size() == 1)
    return pages[0].cluster == cluster ? pages.data() : nullptr;
  auto found = std::lower_bound(pages.begin(), pages.end(), cluster,
                                [](const Page &page, uint32_t wanted) { return page.cluster < wanted; });
  return found != pages.end() && found->cluster == cluster ? &*found : nullptr;
}

Clock::Page &Clock::at(uint32_t cluster) {
  auto found = std::lower_bound(pages.begin(), pages.end(), cluster,
                                [](const Page &page, uint32_t wanted) { return page.cluster < wanted; });
  if (found == pages.end() || found->cluster != cluster)
    found = pages.insert(found, Page{cluster, {}});
  return *found;
}

void Clock::raise(uint32_t cluster, uint16_t thread, uint32_t clock) {
  std::vector<uint32_t> &clocks = at(cluster).clocks;
  if (clocks.size() <= thread)
    clocks.resize(thread + 1u);
  clocks[thread] = std::max(clocks[thread], clock);
}

void Clock::raiseEnded(uint32_t device, uint32_t cluster) {
  if (ended.size() <= device)
    ended.resize(device + 1u);
  ended[device] = std::max(ended[device], cluster);
}

void Clock::forget(uint32_t first, uint32_t end) {
  std::erase_if(pages, [&](const Page &page) { return page.cluster >= first && page.cluster < end; });
}

void Clock::joinEnded(const Clock &other) {
  for (uint32_t device = 0; device < other.ended.size(); ++device)
    raiseEnded(device, other.ended[device]);
}

void Clock::join(const Clock &other) {
  joinEnded(other);
  for (const Page &page : other.pages) {
    std::vector<uint32_t> &clocks = at(page.cluster).clocks;
    if (clocks.size() < page.clocks.size())
      clocks.resize(page.clocks.size());
    for (size_t index = 0; index < page.clocks.size(); ++index)
      clocks[index] = std::max(clocks[index], page.clocks[index]);
  }
}

Snapshot nereid::sim::joined(const Snapshot &a, const Snapshot &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  auto both = std::make_shared<View>(*a);
  both->join(*b);
  return both;
}
