// The observers of each check.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/Checks.h"

using namespace nereid::sim;

std::vector<MakeObserver> nereid::sim::makersOf(uint32_t checks) {
  std::vector<MakeObserver> makers;
  if (checks & CheckBounds)
    makers.push_back(makeBoundsCheck);
  if (checks & CheckUninit)
    makers.insert(makers.end(), {makeUnwrittenCheck, makeUninitCheck});
  if (checks & (CheckRace | CheckSync))
    makers.push_back([checks, grid = makeGridAccesses()](Cluster &cluster) {
      return makeRaceCheck(cluster, grid, checks & CheckRace, checks & CheckSync);
    });
  if (checks & CheckSync)
    makers.insert(makers.end(), {makeSyncCheck, makeRegisterCheck});
  return makers;
}
