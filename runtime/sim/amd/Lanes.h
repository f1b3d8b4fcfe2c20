// Which lane a lane reads from, by the controls of AMD's cross-lane instructions; -1: none.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::sim {

/// DPP controls (CDNA3 ISA 8.4, RDNA3 ISA 7.7): rows have 16 lanes.
int dppSource(uint32_t control, unsigned lane, unsigned lanes);
/// Whether a DPP control has a meaning.
bool isDppControl(uint32_t control);

/// ds_swizzle_b32: quads, and, or and xor of the lane in a group of 32, rotation of a group.
int swizzleSource(uint32_t pattern, unsigned lane);

} // namespace nereid::sim
