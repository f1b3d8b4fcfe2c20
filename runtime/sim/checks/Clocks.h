// Vector clocks of the happens-before analysis.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace nereid::sim {

/// How far each thread of the analysis has come, by cluster and thread; 0 where nothing is known.
class Clock {
public:
  uint32_t of(uint32_t cluster, uint16_t thread) const {
    const Page *page = find(cluster);
    return page && thread < page->clocks.size() ? page->clocks[thread] : 0;
  }
  /// Raises the entry; it never falls.
  void raise(uint32_t cluster, uint16_t thread, uint32_t clock);
  void join(const Clock &other);
  /// Calls `f(cluster, thread, clock)` for what is known.
  template <typename F> void each(F f) const {
    for (const Page &page : pages)
      for (size_t thread = 0; thread < page.clocks.size(); ++thread)
        if (page.clocks[thread])
          f(page.cluster, uint16_t(thread), page.clocks[thread]);
  }

  /// All that the clusters below a number have done on one device, whose launches end one after another.
  uint32_t endedOn(uint32_t device) const { return device < ended.size() ? ended[device] : 0; }
  void raiseEnded(uint32_t device, uint32_t cluster);
  void joinEnded(const Clock &other);
  /// Forgets the clusters of a range.
  void forget(uint32_t first, uint32_t end);

private:
  struct Page {
    uint32_t cluster;
    std::vector<uint32_t> clocks;
  };
  const Page *find(uint32_t cluster) const;
  Page &at(uint32_t cluster);
  std::vector<Page> pages;     ///< by cluster, ascending; nearly always one
  std::vector<uint32_t> ended; ///< by device; empty where each has one launch
};

/// What a thread has seen: all that happened before, and of it what the async proxy sees in shared and global memory,
/// and the tensor map proxy; and which initialisations of mbarriers a fence has ordered. A fence is of the lanes that
/// execute it: the clocks after the first are by lane (GridRecord::laneOf).
struct View {
  Clock now, shared, global, maps, inits;
  void join(const View &other) {
    now.join(other.now);
    inits.join(other.inits);
    shared.join(other.shared);
    global.join(other.global);
    maps.join(other.maps);
  }
};
using Snapshot = std::shared_ptr<const View>;

/// The union of two views; null is the empty one.
Snapshot joined(const Snapshot &a, const Snapshot &b);

} // namespace nereid::sim
