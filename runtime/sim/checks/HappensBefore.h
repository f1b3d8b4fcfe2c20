// Follows which operations of a cluster happen before which others, by vector clocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/checks/GridTable.h"

#include <array>
#include <unordered_map>

namespace nereid::sim {

/// A word that atomics, releases or acquires access: what is published there to all GPUs, by the GPU that used it last
/// to itself, and by the cluster that used it last to itself and to each of its CTAs.
struct SyncWord {
  Snapshot system, ofGpu, ofCluster;
  std::vector<Snapshot> ofCta; ///< by rank
  uint32_t cluster = 0, device = 0;
};
/// Levels of publication: the CTA, the cluster, the GPU, all GPUs.
inline constexpr unsigned kLevels = 4;
using SyncWords = std::unordered_map<const char *, SyncWord>;

/// For each lane of a warp: accesses of the other lanes before this clock are in order with it.
using LaneClocks = std::array<uint32_t, kLanes>;

/// Who accesses memory: a thread of the analysis at a time, and what it has seen.
struct Actor {
  uint16_t thread = 0;
  uint32_t clock = 0;
  const LaneClocks *convergedAt = nullptr; ///< of a warp
  const View *view = nullptr;
};

class HappensBefore {
public:
  /// `global`: words of global memory, of all launches in `grids`.
  HappensBefore(const Cluster &cluster, SyncWords &global, GridTable &grids);

  void onSync(Warp &warp, const SyncEvent &event);
  /// Synchronisation by an access, which comes after the check for races.
  void onAccess(Warp &warp, const MemoryAccess &access);
  /// All threads of the cluster have ended.
  void onEnd();
  /// Whether a warp of the CTA had seen, when it ended, what a thread of the cluster had done at that clock.
  bool isSeenAtEnd(uint32_t rank, uint16_t thread, uint32_t clock) const;

  Actor actorOf(Warp &warp, const MemoryAccess &access);
  uint32_t clusterIndex() const { return index; }
  bool isMbarrier(const char *address) const { return mbarriers.count(address); }
  /// Whether a clock by lane covers what a lane of any launch has done.
  bool coversLane(const Clock &clock, uint32_t cluster, uint16_t thread, unsigned lane, uint32_t at) const {
    return covers(clock, cluster, grids.of(cluster).laneOf(thread, lane), at);
  }
  /// Whether the clock covers what a thread of any launch has done.
  bool covers(const Clock &clock, uint32_t cluster, uint16_t thread, uint32_t at) const {
    return clock.of(cluster, thread) >= at || clock.endedOn(grids.of(cluster).device) > cluster;
  }

private:
  struct Group {
    uint32_t issued = 0; ///< the last operation
    std::deque<uint32_t> committed;
  };
  struct Thread {
    View view;
    mutable Snapshot snapshot; ///< of the view; null after a change
    Snapshot fenced[kLevels], observed[kLevels];
    LaneClocks convergedAt;
    bool hasIssued = false; ///< an operation has its view: what follows is not covered by it
    uint32_t issued[3] = {};
    std::vector<Group> groups[3];
  };
  struct Barrier {
    View open, done;
  };
  struct Mbarrier {
    uint16_t thread = 0;
    uint32_t phase = 0;
    View open, done;
  };
  /// The operation that is being issued.
  struct Operation {
    AsyncKind kind = AsyncKind::Copy;
    uint16_t thread = 0; ///< of the warp's agent, or the mbarrier's
    uint32_t clock = 0;
  };

  Thread &threadOf(const Warp &warp) { return threads[flatIndex(warp)]; }
  size_t flatIndex(const Warp &warp) const { return warp.cta->rank * numWarps + warp.index; }
  uint16_t agentOf(const Warp &warp, Agent agent) const {
    return uint16_t(flatIndex(warp) * kAgents + static_cast<unsigned>(agent));
  }
  const Snapshot &snapshotOf(const Thread &thread) const;
  uint32_t clockOf(const Warp &warp) const;
  void advance(Warp &warp);
  void join(Warp &warp, const View &view);
  void orderLanes(Warp &warp, uint32_t lanes, uint32_t clock);
  Mbarrier &mbarrierAt(const void *address);
  void onFence(Warp &warp, Scope scope);
  void onProxyFence(Warp &warp, const SyncEvent &event);
  void onMbarrier(Warp &warp, const SyncEvent &event);
  void onIssue(Warp &warp, const SyncEvent &event);
  void onWait(Warp &warp, const SyncEvent &event);
  void acquire(Warp &warp, const SyncWord &word, const MemoryAccess &access);
  void publish(Warp &warp, SyncWord &word, const MemoryAccess &access);

  const Cluster &cluster;
  const uint32_t index;
  const size_t numWarps;
  SyncWords &global;
  GridTable &grids;
  SyncWords shared;
  std::vector<Thread> threads;
  std::unordered_map<const void *, Barrier> barriers;
  std::unordered_map<const void *, Mbarrier> mbarriers;
  std::unordered_map<uint64_t, View> arrivals; ///< of cp.async.mbarrier.arrive, by operation
  Operation current;
};

} // namespace nereid::sim
