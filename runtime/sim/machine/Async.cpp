// Asynchronous operations: groups of cp.async, of bulk stores and of wgmma, which take effect early or late.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Async.h"

using namespace nereid::sim;

bool nereid::sim::start(Warp &warp, AsyncGroups &groups, std::function<bool()> perform) {
  if (warp.cta->cluster->completesEarly())
    return perform();
  groups.open.push_back(std::move(perform));
  return true;
}

void nereid::sim::commit(AsyncGroups &groups) {
  groups.committed.push_back(std::move(groups.open));
  groups.open.clear();
}

bool nereid::sim::waitForGroups(AsyncGroups &groups, size_t pending) {
  while (groups.committed.size() > pending) {
    for (const std::function<bool()> &perform : groups.committed.front())
      if (!perform())
        return false;
    groups.committed.pop_front();
  }
  return true;
}

bool nereid::sim::waitForAll(AsyncGroups &groups) {
  if (!waitForGroups(groups, 0))
    return false;
  for (const std::function<bool()> &perform : groups.open)
    if (!perform())
      return false;
  groups.open.clear();
  return true;
}

AsyncGroups &nereid::sim::groupsOf(std::vector<AsyncGroups> &lanes, unsigned lane) {
  if (lanes.empty())
    lanes.resize(kLanes);
  return lanes[lane];
}

bool nereid::sim::startUnordered(Warp &warp, std::function<bool()> perform) {
  Cluster &cluster = *warp.cta->cluster;
  if (cluster.completesEarly())
    return perform();
  cluster.unordered.push_back(std::move(perform));
  return true;
}
