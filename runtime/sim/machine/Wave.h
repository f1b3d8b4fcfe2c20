// Waves of AMD's GPUs: one or two warps whose lanes execute an instruction together.
// SPDX-License-Identifier: MIT
//
// Warps have 32 lanes here; a wave of 64 lanes is a pair of them. Between two instructions of a wave its warps run on
// their own. At one, the first warp waits; the last executes it for all lanes. Lanes that cannot come because they wait
// elsewhere, on the other side of a branch, count as inactive, as the execution mask of the hardware would have it.
#pragma once

#include "runtime/sim/machine/Machine.h"

namespace nereid::sim {

class Wave {
public:
  explicit Wave(Warp &warp);

  enum class Meeting : uint8_t {
    Wait,    ///< for other lanes
    Perform, ///< the lanes are there
    Done,    ///< another warp of the wave has performed the instruction
  };
  /// Called once per attempt to execute an instruction.
  Meeting meet();

  //--- while an instruction is performed ------------------------------------------------------
  unsigned lanes() const { return numWarps * kLanes; }
  uint64_t active() const { return masks[0] | uint64_t{masks[1]} << kLanes; }
  bool isActive(unsigned lane) const { return active() >> lane & 1; }
  bool isWhole() const; ///< every lane that has not ended is there
  template <typename T> T &at(uint32_t slot, unsigned lane) const {
    return warps[lane / kLanes]->at<T>(slot)[lane % kLanes];
  }
  Warp &running() const { return *warps[own]; }
  unsigned size() const { return numWarps; }
  Warp &warp(unsigned index) const { return *warps[index]; }
  uint32_t mask(unsigned index) const { return masks[index]; }

private:
  Warp *warps[2];
  uint32_t masks[2] = {};
  unsigned numWarps, own;
};

/// An instruction that `Perform(Wave &, const Instruction &)` executes for all lanes of the wave; it tells whether
/// that succeeded.
template <auto Perform> Step together(Warp &warp, const Instruction &instruction) {
  Wave wave(warp);
  switch (wave.meet()) {
  case Wave::Meeting::Wait:
    return Step::Wait;
  case Wave::Meeting::Done:
    return Step::Next;
  case Wave::Meeting::Perform:
    return Perform(wave, instruction) ? Step::Next : Step::Fail;
  }
  return Step::Fail;
}

/// In waves of which every lane waits, some of them for the others of the wave: those that are furthest behind need
/// not wait any more. `progress` tells of each warp of the cluster whether it has executed anything since the last
/// call. False where there are none.
bool releaseDivergedWaves(Cluster &cluster, const std::vector<uint8_t> &progress);

} // namespace nereid::sim
