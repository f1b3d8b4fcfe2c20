// Controls of DPP and ds_swizzle_b32.
// SPDX-License-Identifier: MIT
#include "runtime/sim/amd/Lanes.h"

using namespace nereid::sim;

namespace {
constexpr unsigned kRow = 16;

struct DppRange {
  uint32_t first, last;
  /// The source of a lane for `amount`, the control less the first one.
  int (*source)(unsigned lane, unsigned amount, unsigned lanes);
};

int inRow(unsigned lane, int position) {
  return position >= 0 && position < int(kRow) ? int(lane / kRow * kRow) + position : -1;
}
int inWave(int lane, unsigned lanes) { return lane >= 0 && lane < int(lanes) ? lane : -1; }

constexpr DppRange kDppControls[] = {
    // quad_perm: two bits for each lane of a quad
    {0x000, 0x0ff,
     [](unsigned lane, unsigned amount, unsigned) { return int(lane & ~3u) + int(amount >> lane % 4 * 2 & 3); }},
    // row_shl 1 to 15: from higher lanes
    {0x101, 0x10f, [](unsigned lane, unsigned amount, unsigned) { return inRow(lane, int(lane % kRow + amount + 1)); }},
    // row_shr 1 to 15
    {0x111, 0x11f,
     [](unsigned lane, unsigned amount, unsigned) { return inRow(lane, int(lane % kRow) - int(amount + 1)); }},
    // row_ror 1 to 15
    {0x121, 0x12f,
     [](unsigned lane, unsigned amount, unsigned) {
       return inRow(lane, int((lane % kRow + kRow - amount - 1) % kRow));
     }},
    // wave_shl, wave_rol, wave_shr, wave_ror by 1
    {0x130, 0x130, [](unsigned lane, unsigned, unsigned lanes) { return inWave(int(lane) + 1, lanes); }},
    {0x134, 0x134, [](unsigned lane, unsigned, unsigned lanes) { return int((lane + 1) % lanes); }},
    {0x138, 0x138, [](unsigned lane, unsigned, unsigned lanes) { return inWave(int(lane) - 1, lanes); }},
    {0x13c, 0x13c, [](unsigned lane, unsigned, unsigned lanes) { return int((lane + lanes - 1) % lanes); }},
    // row_mirror, row_half_mirror
    {0x140, 0x140, [](unsigned lane, unsigned, unsigned) { return int(lane ^ 15); }},
    {0x141, 0x141, [](unsigned lane, unsigned, unsigned) { return int(lane ^ 7); }},
    // row_bcast15: the last lane of the row before; row_bcast31: lane 31 for all that follow
    {0x142, 0x142, [](unsigned lane, unsigned, unsigned) { return int(lane / kRow * kRow) - 1; }},
    {0x143, 0x143, [](unsigned lane, unsigned, unsigned) { return lane >= 32 ? 31 : -1; }},
    // row_share (row_newbcast on CDNA) 0 to 15
    {0x150, 0x15f, [](unsigned lane, unsigned amount, unsigned) { return inRow(lane, int(amount)); }},
    // row_xmask 0 to 15
    {0x160, 0x16f, [](unsigned lane, unsigned amount, unsigned) { return int(lane ^ amount); }},
};

const DppRange *findControl(uint32_t control) {
  for (const DppRange &range : kDppControls)
    if (control >= range.first && control <= range.last)
      return &range;
  return nullptr;
}
} // namespace

bool nereid::sim::isDppControl(uint32_t control) { return findControl(control) != nullptr; }

int nereid::sim::dppSource(uint32_t control, unsigned lane, unsigned lanes) {
  const DppRange *range = findControl(control);
  return range ? range->source(lane, control - range->first, lanes) : -1;
}

int nereid::sim::swizzleSource(uint32_t pattern, unsigned lane) {
  const unsigned group = lane & ~31u, within = lane & 31;
  if (pattern >= 0xc000) { // rotation: bit 10 is the direction, bits 9 to 5 the count, 4 to 0 lanes that stay
    const unsigned count = pattern >> 5 & 31, stays = pattern & 31;
    const unsigned rotated = (pattern >> 10 & 1 ? within + 32 - count : within + count) & 31;
    return int(group | (within & stays) | (rotated & ~stays & 31));
  }
  if (pattern >= 0x8000) // two bits for each lane of a quad
    return int((lane & ~3u) | (pattern >> lane % 4 * 2 & 3));
  return int(group | (((within & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31)));
}
