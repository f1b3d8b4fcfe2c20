// Arrival at a barrier of a CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/SyncEvent.h"

namespace nereid::sim {

/// The running split arrives once, for `arrivals` threads, then waits for the end of the phase; false while it waits.
/// `event` says which barrier.
bool meetAtBarrier(Warp &warp, NamedBarrier &barrier, SyncEvent event, bool waits, uint32_t arrivals);

/// The threads of a CTA that have not ended.
uint32_t liveThreads(const Cta &cta);

} // namespace nereid::sim
