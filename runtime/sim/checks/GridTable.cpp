// Looks up launches by their clusters, and carries what they have seen to the next launch on the same GPU.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/GridTable.h"

using namespace nereid::sim;

static Dim clustersOfGrid(const Launch &launch) {
  const Dim &grid = launch.grid, &cluster = launch.cluster;
  return {(grid.x + cluster.x - 1) / cluster.x, (grid.y + cluster.y - 1) / cluster.y,
          (grid.z + cluster.z - 1) / cluster.z};
}

uint32_t nereid::sim::numberOf(const Cluster &cluster) {
  const Launch &launch = *cluster.launch;
  const Dim &id = cluster.ctas[0].id, &extent = launch.cluster, clusters = clustersOfGrid(launch);
  return launch.firstCluster + (id.z / extent.z * clusters.y + id.y / extent.y) * clusters.x + id.x / extent.x;
}

//--- threads of a launch -------------------------------------------------------------------

int GridRecord::rankOf(uint16_t thread) const {
  const size_t warp = thread / kAgents;
  return warp < numWarps * numCtas ? int(warp / numWarps) : -1;
}

std::string GridRecord::nameOf(uint16_t thread) const {
  if (rankOf(thread) < 0)
    return "a copy that signals an mbarrier";
  static constexpr const char *names[] = {"", "cp.async of ", "wgmma of ", "a bulk store of ", "a bulk store of "};
  return names[thread % kAgents] + ("warp " + std::to_string(thread / kAgents % numWarps));
}

//--- launches ------------------------------------------------------------------------------

static bool isBefore(uint32_t cluster, const GridRecord &grid) { return cluster < grid.firstCluster; }

void GridTable::add(const Cluster &cluster) {
  const Launch &launch = *cluster.launch;
  const auto next = std::upper_bound(grids.begin(), grids.end(), launch.firstCluster, isBefore);
  if (next != grids.begin() && std::prev(next)->firstCluster == launch.firstCluster)
    return;
  grids.insert(next, GridRecord{launch.firstCluster, uint32_t(clustersOfGrid(launch).count()), launch.device,
                                cluster.ctas[0].warps.size(), cluster.ctas.size(), cluster.code});
}

const GridRecord &GridTable::of(uint32_t cluster) const {
  return *std::prev(std::upper_bound(grids.begin(), grids.end(), cluster, isBefore));
}

void GridTable::addLanes(Clock &byLane, const Clock &now, const Lanes &lanes) const {
  byLane.joinEnded(now);
  now.each([&](uint32_t from, uint16_t other, uint32_t clock) {
    const GridRecord &grid = of(from);
    const bool isWarp = grid.rankOf(other) >= 0;
    if (isWarp && other % kAgents != static_cast<unsigned>(Agent::Warp))
      return; // its accesses need no fence
    if (!isWarp)
      return byLane.raise(from, grid.laneOf(other, 0), clock);
    const uint32_t mask = from == lanes.cluster && other == lanes.thread ? lanes.mask : kAllLanes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      byLane.raise(from, grid.laneOf(other, lane), mask >> lane & 1 ? clock : std::min(clock, lanes.others));
  });
}

View GridTable::startOf(const Cluster &cluster) const {
  const Launch &launch = *cluster.launch;
  if (launch.device >= ended.size())
    return {};
  View view = ended[launch.device];
  view.now.raiseEnded(launch.device, launch.firstCluster);
  // The end of a launch makes its writes visible to every proxy.
  addLanes(view.global, view.now, {});
  view.shared = view.maps = view.global;
  return view;
}

void GridTable::end(const Cluster &cluster, const View &seen) {
  const Launch &launch = *cluster.launch;
  if (!launch.hasPeers)
    return;
  if (ended.size() <= launch.device)
    ended.resize(launch.device + 1);
  Clock &known = ended[launch.device].now;
  known.join(seen.now);
  for (const GridRecord &grid : grids)
    if (grid.device == launch.device)
      known.forget(grid.firstCluster, grid.firstCluster + grid.numClusters);
}
