// How the simulator reports a fault: with the user's line, the line of the PTX, the program, the warp and the lane.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Machine.h"

namespace nereid::sim {

/// Another place that a report names, such as the other access of a race.
struct Note {
  const Instruction *instruction = nullptr;
  std::string text;
  const Code *code = nullptr; ///< that the instruction belongs to; null: the reporting kernel's
};

/// Ends the simulation of the cluster with an error. Codes of a sanitizer ("sanitize-...") have the form of the CPU's
/// reports: position, message, source line and caret, then notes. Others are one line. A lane of -1: no certain one.
Step fail(Warp &warp, const Instruction &instruction, const char *code, std::string text, int lane = -1,
          const std::vector<Note> &notes = {});

/// "program 3, 0, 0", with the GPU where launches run on several: "program 3, 0, 0 of device 1". Of the first CTA.
std::string programText(const Cluster &cluster);

/// "program 3, 0, 0, warp 1, lane 8".
std::string threadText(const Warp &warp, int lane);

/// "at add.py:9:5, line 53 of the PTX: ld.global.u32 %r1, [%rd1]"; without a position of the source if it is unknown.
std::string placeText(const Cluster &cluster, const Instruction &instruction);

/// "element 12 of `x_ptr`" where the address is in the memory of a known argument, else "global memory at 0x...".
std::string globalPlaceText(const Launch &launch, uint64_t address);

/// Where the warps of the cluster stand, up to a limit, and what a barrier lacks that they wait for.
std::string warpsText(const Cluster &cluster);

} // namespace nereid::sim
