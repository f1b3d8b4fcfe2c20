// Hands synchronisation events to the observers of a cluster.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/SyncEvent.h"

#include "runtime/sim/machine/Observer.h"

using namespace nereid::sim;

void nereid::sim::tellObservers(Warp &warp, const SyncEvent &event) {
  for (const std::shared_ptr<Observer> &observer : warp.cta->cluster->observers)
    observer->onSync(warp, event);
}
