// Brings the warps of a wave together at an instruction, and releases those whose others cannot come.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Wave.h"

#include <algorithm>

using namespace nereid::sim;

Wave::Wave(Warp &warp) {
  std::vector<Warp> &all = warp.cta->warps;
  const unsigned perWave = warp.cta->cluster->code->waveLanes / kLanes, first = warp.index / perWave * perWave;
  numWarps = unsigned(std::min<size_t>(perWave, all.size() - first));
  for (unsigned index = 0; index < numWarps; ++index)
    warps[index] = &all[first + index];
  own = warp.index - first;
}

bool Wave::isWhole() const {
  for (unsigned index = 0; index < numWarps; ++index)
    if (~warps[index]->exited & ~masks[index])
      return false;
  return true;
}

Wave::Meeting Wave::meet() {
  Split &split = running().split();
  if (split.hasMet) {
    split.hasMet = false;
    return Meeting::Done;
  }
  Split *others = nullptr; // of the other warp, at the same instruction
  masks[own] = running().mask;
  for (unsigned index = 0; index < numWarps; ++index)
    for (Split &each : warps[index]->splits) {
      if (each.hasMet) // it has yet to leave an earlier instruction
        return Meeting::Wait;
      // One that has arrived is still to leave the barrier's last phase: the other has been round a loop.
      if (index != own && each.pc == split.pc && !each.hasArrived)
        others = &each, masks[index] = each.mask;
    }
  const bool isReleased = split.isReleased || (others && others->isReleased);
  if (!isReleased && !isWhole())
    return Meeting::Wait;
  split.isReleased = false;
  if (others) {
    others->isReleased = others->isWaiting = false;
    others->hasMet = true;
  }
  return Meeting::Perform;
}

//--- lanes that cannot come ----------------------------------------------------------------

/// The warps of one wave, from `first`.
static bool releaseLowest(Cluster &cluster, Warp *first, size_t count) {
  const std::vector<Instruction> &instructions = cluster.code->instructions;
  uint32_t lowest = ~0u;
  for (Warp *warp = first; warp != first + count; ++warp)
    for (const Split &split : warp->splits) {
      if (!split.isWaiting || split.hasMet || split.isReleased)
        return false;
      if (instructions[split.pc].isOfWave && !split.hasArrived)
        lowest = std::min(lowest, split.pc);
    }
  if (lowest == ~0u)
    return false;
  for (Warp *warp = first; warp != first + count; ++warp)
    for (Split &split : warp->splits)
      split.isReleased |= split.pc == lowest && !split.hasArrived;
  return true;
}

bool nereid::sim::releaseDivergedWaves(Cluster &cluster, const std::vector<uint8_t> &progress) {
  const size_t perWave = cluster.code->waveLanes / kLanes;
  bool hasReleased = false;
  for (size_t rank = 0, at = 0; rank < cluster.ctas.size(); ++rank) {
    std::vector<Warp> &warps = cluster.ctas[rank].warps;
    for (size_t first = 0; first < warps.size(); first += perWave) {
      const size_t count = std::min(perWave, warps.size() - first);
      const bool hasRun = std::any_of(&progress[at], &progress[at] + count, [](uint8_t each) { return each; });
      at += count;
      if (!hasRun)
        hasReleased |= releaseLowest(cluster, &warps[first], count);
    }
  }
  return hasReleased;
}
