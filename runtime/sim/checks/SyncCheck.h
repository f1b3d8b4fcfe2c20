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

  bool onAccess(Warp &warp, const MemoryAccess &access) override;
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
  /// A copy that signals an mbarrier.
  struct Copy {
    Warp *warp;
    const Instruction *instruction;
    uint32_t phase;
    unsigned lane;
  };
  struct Mbarrier {
    const Instruction *valid = nullptr; ///< what has initialised it; null: nothing, or it has been invalidated
    uint32_t phase = 0;
    int64_t bytes = 0;           ///< expected and not brought yet
    std::vector<Copy> unawaited; ///< that have ended, in phases that nobody has waited for
  };

  void atArrival(Warp &warp, const SyncEvent &event);
  void atCompletion(Warp &warp, const SyncEvent &event);
  void atCollective(Warp &warp, const SyncEvent &event);
  void atMbarrier(Warp &warp, const SyncEvent &event);
  void atBytes(Warp &warp, Mbarrier &barrier, const SyncEvent &event);
  bool reportAccess(Warp &warp, const MemoryAccess &access, unsigned lane, const Instruction &init);
  void reportAtEnd(const Copy &copy, const char *text);
  void atAsync(Warp &warp, const SyncEvent &event);
  uint32_t threadsOf(const Warp &warp) const;

  Cluster &cluster;
  std::unordered_map<const void *, Phase> phases;
  std::map<const char *, Mbarrier> mbarriers;               ///< by address
  std::map<std::pair<uint64_t, const void *>, Copy> copies; ///< that have not ended
  /// The cp.async, or bulk stores, of a lane, or the wgmma of a warp: groups that it has committed, the last operation
  /// and the group that it belongs to.
  struct Copies {
    uint32_t committed = 0, group = 0;
    const Instruction *last = nullptr; ///< null: waited for
  };
  std::map<std::pair<Warp *, unsigned>, Copies> laneCopies, laneStores, products;
};

} // namespace nereid::sim
