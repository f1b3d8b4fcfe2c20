// How many blocks run on a multiprocessor at a time, and how many registers that leaves each.
// SPDX-License-Identifier: MIT
//
// An assembler that is told nothing guesses: some take so many registers that half of the threads fit, some so few that
// loads wait for each other. Told how many blocks must be resident it takes what they leave.
#pragma once

#include "compiler/target/nvidia/Archs.h"

#include <string>

namespace nereid::nvidia {

inline constexpr uint32_t maxThreadRegisters = 255; ///< that the instructions of a thread can name

struct CtaFootprint {
  uint32_t registers = 0; ///< of a thread
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
};

/// Blocks that one multiprocessor holds; 0 where not even one fits.
uint32_t residentCtas(const Arch &arch, const CtaFootprint &block);

/// What a kernel needs of a multiprocessor.
struct KernelResources {
  uint32_t tileRegisters = 0; ///< that the tiles of a thread take at the most
  uint32_t loadedBytes = 0;   ///< that a thread loads at a time; 0: it loads no tiles
  uint32_t threads = 0;       ///< of a block
  uint32_t sharedBytes = 0;   ///< of a block
};

/// How many blocks should be resident: as few as keep memory busy, so that each has registers to spare, and no more
/// than fit; 0: no promise.
uint32_t chooseMinCtasPerSm(const Arch &arch, const KernelResources &resources);

/// The PTX with `.minnctapersm` on its kernel, or without it where `blocks` is 0. One with a register limit is
/// unchanged.
std::string withMinCtasPerSm(const std::string &ptx, uint32_t blocks);

} // namespace nereid::nvidia
