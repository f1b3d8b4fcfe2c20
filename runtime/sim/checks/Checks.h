// The checks of a launch, which are observers of its clusters.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Observer.h"

namespace nereid::sim {

/// What the clusters of launches that run together share when they look for races.
struct GridAccesses;
std::shared_ptr<GridAccesses> makeGridAccesses();

/// The observers of a set of Check; what looks for races sees one cluster at a time, on one thread.
std::vector<MakeObserver> makersOf(uint32_t checks, std::shared_ptr<GridAccesses> grid);

/// Reports accesses outside of the buffers of the launch. A pointer belongs to the buffer of the parameter that it was
/// computed from; one that was loaded from memory may point anywhere.
std::shared_ptr<Observer> makeBoundsCheck(Cluster &cluster);

/// Reports uses of shared memory, local memory and registers that nobody has written.
std::shared_ptr<Observer> makeUninitCheck(Cluster &cluster);

/// Reports reads of global memory that still has what it was filled with when it was allocated; null where no argument
/// of the launch was filled.
std::shared_ptr<Observer> makeUnwrittenCheck(Cluster &cluster);

/// Reports data races (`races`) and missing proxy fences (`fences`).
std::shared_ptr<Observer> makeRaceCheck(Cluster &cluster, std::shared_ptr<GridAccesses> grid, bool races, bool fences);

/// Reports misuse of barriers, collectives and mbarriers.
std::shared_ptr<Observer> makeSyncCheck(Cluster &cluster);

/// Reports registers of wgmma that lack a fence before it or a wait after it; null where the kernel has no wgmma.
std::shared_ptr<Observer> makeRegisterCheck(Cluster &cluster);

} // namespace nereid::sim
