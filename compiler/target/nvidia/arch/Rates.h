// Says how much each unit of a multiprocessor does per cycle, for estimates.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/arch/Archs.h"

namespace nereid::nvidia {

/// Per cycle of a multiprocessor.
struct Rates {
  unsigned wgmmaProducts = 0;    ///< of 16-bit floats; 8-bit elements are twice as fast, tf32 half
  unsigned warpMmaProducts = 0;  ///< the same by mma.sync
  unsigned fma = 0;              ///< of f32; other simple instructions alike
  unsigned special = 0;          ///< exponentials, logarithms, roots
  unsigned globalBytes = 0;      ///< its part of L2's bandwidth
  unsigned warpInstructions = 0; ///< of memory accesses
};

Rates ratesOf(const Arch &arch);

} // namespace nereid::nvidia
