// The checks of a launch, which are observers of its clusters.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/Observer.h"

namespace nereid::sim {

/// Adds the observers of the launch's checks to the cluster, before its first instruction.
void addChecks(Cluster &cluster);

/// Reports accesses outside of the buffers of the launch. A pointer belongs to the buffer of the parameter that it was
/// computed from; one that was loaded from memory may point anywhere.
std::shared_ptr<Observer> makeBoundsCheck(Cluster &cluster);

/// Reports uses of shared memory, local memory and registers that nobody has written.
std::shared_ptr<Observer> makeUninitCheck(Cluster &cluster);

} // namespace nereid::sim
