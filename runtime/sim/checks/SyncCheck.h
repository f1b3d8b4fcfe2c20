// Finds misuse of barriers, collectives and mbarriers, and copies that nobody waits for.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Observer.h"

#include <map>
#include <unordered_map>

namespace nereid::sim {

class SyncCheck final : public Observer {
public:
  explicit SyncCheck(Cluster &cluster) : cluster(cluster) {}

  void onSync(Warp &warp, const SyncEvent &event) override;
  void onEnd(Cluster &cluster) override;

private:
  /// What a warp has done at a barrier in the open phase.
  struct Arrival {
    uint32_t lanes = 0;
    const Instruction *instruction = nullptr;
    bool isAligned = false, isMixed = false; ///< mixed: lanes have come by different instructions
  };
  struct Phase {
    uint32_t count = 0;
    const Instruction *first = nullptr;
    std::map<Warp *, Arrival> arrivals;
  };
  struct Mbarrier {
    bool isValid = false;
    uint32_t phase = 0;
    int64_t bytes = 0; ///< expected and not brought yet
  };
  /// A copy that signals an mbarrier and has not done so.
  struct Copy {
    Warp *warp;
    const Instruction *instruction;
    const void *barrier;
    uint32_t phase;
    unsigned lane;
  };

  void atArrival(Warp &warp, const SyncEvent &event);
  void atCompletion(Warp &warp, const SyncEvent &event);
  void atCollective(Warp &warp, const SyncEvent &event);
  void atMbarrier(Warp &warp, const SyncEvent &event);
  void atAsync(Warp &warp, const SyncEvent &event);
  uint32_t threadsOf(const Warp &warp) const;

  Cluster &cluster;
  std::unordered_map<const void *, Phase> phases;
  std::unordered_map<const void *, Mbarrier> mbarriers;
  std::map<std::pair<uint64_t, const void *>, Copy> copies;
  /// The cp.async, or bulk stores, of a lane: groups that it has committed, the last copy and the group that it belongs
  /// to.
  struct Copies {
    uint32_t committed = 0, group = 0;
    const Instruction *last = nullptr; ///< null: waited for
  };
  std::map<std::pair<Warp *, unsigned>, Copies> laneCopies, laneStores;
};

} // namespace nereid::sim
