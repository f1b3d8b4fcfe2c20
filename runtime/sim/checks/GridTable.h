// The launches that are looked at together for races: where each of their clusters runs, and what ended before it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/checks/Clocks.h"
#include "runtime/sim/machine/Observer.h"

#include <string>

namespace nereid::sim {

/// Threads of the analysis that a warp has: itself, and what it has started.
enum class Agent : uint8_t { Warp, Copy, Wgmma, BulkRead, BulkWrite };
inline constexpr unsigned kAgents = 5;

/// One launch; its threads of the analysis have the same numbers in every cluster.
struct GridRecord {
  uint32_t firstCluster = 0, numClusters = 0, device = 0;
  size_t numWarps = 0, numCtas = 0; ///< of a CTA, of a cluster
  const Code *code = nullptr;

  /// The CTA that a thread runs in; mbarriers' threads have none (-1).
  int rankOf(uint16_t thread) const;
  /// "warp 3", "cp.async of warp 3".
  std::string nameOf(uint16_t thread) const;
  /// The number of a lane of a warp, or of another thread, in clocks that are by lane.
  uint16_t laneOf(uint16_t thread, unsigned lane) const {
    const size_t warps = numWarps * numCtas, warp = thread / kAgents;
    return uint16_t(warp < warps ? warp * kLanes + lane : warps * kLanes + thread - warps * kAgents);
  }
  /// Whether it stands for the cp.async of a warp.
  bool isCopy(uint16_t thread) const {
    return rankOf(thread) >= 0 && thread % kAgents == static_cast<unsigned>(Agent::Copy);
  }
};

class GridTable {
public:
  /// Adds the launch of a cluster, unless it is there.
  void add(const Cluster &cluster);
  const GridRecord &of(uint32_t cluster) const;

  /// Some lanes of a warp, and up to which clock the other lanes are in order with them.
  struct Lanes {
    uint32_t cluster = 0;
    uint16_t thread = 0;
    uint32_t mask = kAllLanes, others = 0;
  };
  /// Adds to a clock by lane what such lanes have seen, of the threads in `now`.
  void addLanes(Clock &byLane, const Clock &now, const Lanes &lanes) const;

  /// What a cluster has seen when it starts: what the launches before it on its GPU have done and seen.
  View startOf(const Cluster &cluster) const;
  /// A thread of the cluster ends.
  void end(const Cluster &cluster, const View &seen);

private:
  std::vector<GridRecord> grids; ///< by first cluster
  std::vector<View> ended;       ///< by device, of other devices; empty where there is one launch
};

/// The number of a cluster among those of all launches.
uint32_t numberOf(const Cluster &cluster);

} // namespace nereid::sim
