// Registers that a kernel may take without one block fewer running at a time.
// SPDX-License-Identifier: MIT
//
// The assembler saves registers where they would buy nothing: between two occupancies it keeps fewer loads in flight than
// fit. Told how many blocks must be resident, it uses what they leave.
#pragma once

#include "compiler/target/nvidia/Archs.h"

#include <string>

namespace nereid::nvidia {

struct BlockFootprint {
  uint32_t registers = 0; ///< of a thread
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
};

/// Blocks that one multiprocessor holds.
uint32_t residentBlocks(const Arch &arch, const BlockFootprint &block);

/// The number of blocks to promise so that the assembler has enough more registers to be worth a second run; else 0.
uint32_t blocksWithSlack(const Arch &arch, const BlockFootprint &block);

/// The PTX with `.minnctapersm` on its kernel; unchanged where that has a register limit of its own.
std::string withResidentBlocks(const std::string &ptx, uint32_t blocks);

} // namespace nereid::nvidia
