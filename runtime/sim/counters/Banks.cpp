// Bank conflicts of shared memory and sectors of global memory, from the addresses of a warp.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/Banks.h"

#include <algorithm>
#include <bit>

using namespace nereid::sim;

static constexpr unsigned kMostBanks = 64, kBankBytes = 4, kSectorBytes = 32, kWarpLanes = 32;

/// One part of a warp: as many wavefronts as the busiest bank has different words.
static uint32_t wavefrontsOf(uint32_t lanes, uint32_t bytes, const uint64_t *addresses, uint32_t banks) {
  uint64_t words[kMostBanks][kWarpLanes];
  uint8_t counts[kMostBanks] = {};
  uint32_t busiest = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    const uint64_t last = (address + bytes - 1) / kBankBytes;
    for (uint64_t word = address / kBankBytes; word <= last; ++word) {
      const unsigned bank = word % banks;
      uint64_t *begin = words[bank], *end = begin + counts[bank];
      if (counts[bank] == kWarpLanes || std::find(begin, end, word) != end)
        continue;
      *end = word;
      busiest = std::max<uint32_t>(busiest, ++counts[bank]);
    }
  }
  return busiest;
}

/// Whether each lane has the address of the lane whose number differs in that bit, as far as both take part.
static bool isPairwiseSame(uint32_t lanes, const uint64_t *addresses, unsigned bit) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if ((lanes >> lane & 1) && (lanes >> (lane ^ bit) & 1) && addresses[lane] != addresses[lane ^ bit])
      return false;
  return true;
}

static uint32_t partOf(uint32_t lanes, unsigned first, unsigned width) {
  return lanes & uint32_t(((uint64_t{1} << width) - 1) << first);
}

BankUse nereid::sim::bankUseOf(uint32_t lanes, uint32_t bytes, const uint64_t *addresses, uint32_t banks) {
  const unsigned words = std::clamp(bytes / kBankBytes, 1u, kWarpLanes), width = kWarpLanes / words;
  const unsigned doubled = words > 1 ? 2 * width : width;
  BankUse use;
  for (unsigned first = 0; first < kWarpLanes; first += doubled) {
    const uint32_t both = partOf(lanes, first, doubled);
    const bool isJoined = isPairwiseSame(both, addresses, 1) || isPairwiseSame(both, addresses, 2);
    const unsigned step = isJoined ? doubled : width;
    for (unsigned begin = first; begin < first + doubled; begin += step)
      if (const uint32_t part = partOf(lanes, begin, step)) {
        ++use.minimum;
        use.wavefronts += wavefrontsOf(part, bytes, addresses, banks);
      }
  }
  return use;
}

uint32_t nereid::sim::sectorsOf(uint32_t lanes, uint32_t bytes, const uint64_t *addresses, uint64_t *sectors) {
  uint32_t count = 0;
  for (; lanes && bytes; lanes &= lanes - 1) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    const uint64_t last = (address + bytes - 1) / kSectorBytes;
    for (uint64_t sector = address / kSectorBytes; sector <= last; ++sector)
      if (!count || (sectors[count - 1] != sector && std::find(sectors, sectors + count, sector) == sectors + count))
        sectors[count++] = sector;
  }
  return count;
}
