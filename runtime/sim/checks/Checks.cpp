// The observers of each check.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/Checks.h"

using namespace nereid::sim;

std::vector<MakeObserver> nereid::sim::makersOf(uint32_t checks, std::shared_ptr<GridAccesses> grid) {
  std::vector<MakeObserver> makers;
  if (checks & artifact::Bounds)
    makers.push_back(makeBoundsCheck);
  if (checks & artifact::Uninit)
    makers.insert(makers.end(), {makeUnwrittenCheck, makeUninitCheck});
  if (checks & (artifact::Race | artifact::Sync))
    makers.push_back([checks, grid = std::move(grid)](Cluster &cluster) {
      return makeRaceCheck(cluster, grid, checks & artifact::Race, checks & artifact::Sync);
    });
  if (checks & artifact::Sync)
    makers.insert(makers.end(), {makeSyncCheck, makeRegisterCheck});
  return makers;
}
