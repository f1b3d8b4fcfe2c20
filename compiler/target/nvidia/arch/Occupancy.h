// Chooses how many CTAs run on a multiprocessor at a time, which sets the registers of each.
// SPDX-License-Identifier: MIT
//
// Without a hint ptxas versions guess: some use so many registers that half of the threads fit, some so few that loads
// wait for each other. With the number of resident CTAs given, ptxas uses the registers that remain.
#pragma once

#include "compiler/target/nvidia/arch/Archs.h"

#include <string>

namespace nereid::nvidia {

inline constexpr uint32_t maxThreadRegisters = 255; ///< registers that an instruction can address

/// The resources of a multiprocessor that a kernel uses.
struct KernelResources {
  uint32_t tileRegisters = 0;  ///< peak of a thread's tiles
  uint32_t valueRegisters = 0; ///< peak of all values of straight-line code; 0: unknown
  uint32_t loadedBytes = 0;    ///< in flight per thread; 0: it loads no tiles
  uint32_t threads = 0;        ///< per CTA
  uint32_t sharedBytes = 0;    ///< per CTA
  bool runsOnce = false;       ///< no loops, no dots
};

/// The number of CTAs that should be resident; 0: no hint.
struct MinCtasPerSm {
  uint32_t tight = 0; ///< to be tried first: the values just fit, where more CTAs keep memory busier
  uint32_t safe = 0;
};

/// Chooses as few CTAs as keep memory busy, so that each has registers to spare, and no more than fit. A kernel that
/// runs once has nothing to prefetch: as many CTAs as fit keep a multiprocessor busy, and where these are few, ptxas
/// finds an order that needs fewer registers than the tiles.
MinCtasPerSm chooseMinCtasPerSm(const Arch &arch, const KernelResources &resources);

/// The PTX with `.minnctapersm` on its kernel, or without it where `blocks` is 0. PTX with a register limit is
/// unchanged.
std::string withMinCtasPerSm(const std::string &ptx, uint32_t blocks);

} // namespace nereid::nvidia
