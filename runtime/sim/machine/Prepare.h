// What precedes a simulation: the clusters of a grid in their first state, and the limits of a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Machine.h"

namespace nereid::sim {

/// What a GPU would refuse of a launch; nothing where it can run.
std::optional<std::string> problemOf(const Code &code, const Launch &launch);

/// The grid in clusters.
Dim clustersOf(const Launch &launch);
/// Clusters that the GPU runs at once.
uint64_t residentClusters(const Launch &launch);

/// Makes an empty cluster the one of that index.
void prepareCluster(Cluster &cluster, const Code &code, const Launch &launch, uint64_t index);

} // namespace nereid::sim
