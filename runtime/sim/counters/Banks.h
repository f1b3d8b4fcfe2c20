// How many wavefronts an access of a warp to shared memory takes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::sim {

struct BankUse {
  uint32_t wavefronts = 0;
  uint32_t minimum = 0; ///< wavefronts of the access without conflicts
};

/// `banks` banks of 4 bytes, 32 or 64. Accesses of 8 and 16 bytes are done by halves and quarters of the warp; two
/// neighbouring parts are one where their lanes have the same addresses in pairs (of lanes i and i ^ 1, or i and i ^
/// 2). Lanes of a part that access the same word share it. `addresses` has an entry per lane.
BankUse bankUseOf(uint32_t lanes, uint32_t bytes, const uint64_t *addresses, uint32_t banks = 32);

/// The different 32-byte sectors that an access touches, in `sectors` (room for 32 * (bytes / 32 + 2)); their number.
uint32_t sectorsOf(uint32_t lanes, uint32_t bytes, const uint64_t *addresses, uint64_t *sectors);

} // namespace nereid::sim
