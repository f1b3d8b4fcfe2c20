// What each generation of NVIDIA GPUs can do, by name: no other file compares compute capabilities.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace nereid::nvidia {

struct Arch {
  unsigned capability;   ///< 90 is compute capability 9.0
  const char *cpu;       ///< LLVM's and ptxas's name, with the features of that generation alone
  unsigned ptxVersion;   ///< the lowest that has what is emitted for it; 80 is 8.0
  bool hasToolchain;     ///< ptxas 13 still takes it; of others the driver makes machine code
  bool hasWarpReduce;    ///< redux.sync
  bool hasBf16Conversion; ///< cvt to bf16, and packed to f16x2 and bf16x2
  bool hasByteFloats;    ///< cvt from and to e4m3 and e5m2
  bool hasAsyncCopy;     ///< cp.async
  bool hasTma;
  bool hasWgmma;
  bool hasClusters;
  uint32_t maxSharedBytes; ///< of one block
  uint32_t residentThreads; ///< of one multiprocessor
};

inline constexpr unsigned lowestCapability = 70;

/// The row for "90"; null, and the reason, where there is none.
const Arch *findArch(const std::string &name, std::string &whyNot);

} // namespace nereid::nvidia
