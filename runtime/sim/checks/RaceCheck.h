// Finds data races and missing proxy fences; `runtime/sim/checks/HappensBefore.h` says what is in order.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/checks/HappensBefore.h"
#include "runtime/sim/machine/Shadow.h"

#include <map>

namespace nereid::sim {

/// What the clusters of launches that run together share; one of them runs at a time.
struct GridAccesses {
  GridTable grids;
  Shadow shadow;
  SyncWords words;
};

class RaceCheck final : public Observer {
public:
  /// `races`, `fences`: what is reported.
  RaceCheck(Cluster &cluster, std::shared_ptr<GridAccesses> grid, bool races, bool fences);

  bool onAccess(Warp &warp, const MemoryAccess &access) override;
  void onSync(Warp &warp, const SyncEvent &event) override;
  void onIssue(Warp &warp, const Instruction &instruction) override;
  void onEnd(Cluster &) override;

private:
  struct Visit;
  bool visitWord(const Visit &visit, Cell &cell, const Touch &touch);
  bool isInOrder(const Visit &visit, const Touch &before, const Touch &touch) const;
  bool includeEachOther(const Touch &before, const Touch &touch) const;
  bool writeDifferently(const Visit &visit, const Touch &before, const Touch &touch) const;
  bool isHidden(const Visit &visit, const Touch &before) const;
  bool isFencedInit(const Visit &visit, const Touch &before) const;
  bool reportRace(const Visit &visit, const Touch &before, const Touch &touch);
  bool reportFence(const Visit &visit, const Touch &before, const Touch &touch);
  std::string nameOf(const Touch &touch) const { return grid->grids.of(touch.cluster).nameOf(touch.thread); }
  Note describe(const Touch &touch) const;
  std::string memoryOf(Space space, uint64_t address) const;

  /// Two writes in no order, which are a race if the second changes the bytes.
  struct Rewrite {
    const char *word;
    char old[4];
    Touch before, touch;
    Space space;
    uint64_t address;
  };

  /// The last access of a thread of the analysis to the shared memory of another CTA.
  struct RemoteAccess {
    Warp *warp;
    const Instruction *instruction;
    uint32_t clock;
    unsigned lane;
  };
  void noteRemote(Warp &warp, const MemoryAccess &access, const Actor &actor);

  Cluster &cluster;
  const std::shared_ptr<GridAccesses> grid;
  const bool races, fences;
  HappensBefore order;
  Shadow shared;
  std::vector<Rewrite> rewrites;                                ///< of the current instruction
  std::map<std::pair<uint32_t, uint16_t>, RemoteAccess> remote; ///< by the other CTA's rank and the thread
};

} // namespace nereid::sim
