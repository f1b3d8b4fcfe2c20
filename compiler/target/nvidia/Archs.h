// What each generation of NVIDIA GPUs can do, by name: no other file compares compute capabilities.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::nvidia {

struct Arch {
  unsigned capability;    ///< 90 is compute capability 9.0
  const char *cpu;        ///< LLVM's and ptxas's name, with the features of that generation alone
  const char *portable;   ///< the same without them: later GPUs run its PTX
  unsigned ptxVersion;    ///< the lowest that has what is emitted for it; 80 is 8.0
  bool hasToolchain;      ///< ptxas 13 still takes it; of others the driver makes machine code
  bool hasWarpReduce;     ///< redux.sync
  bool hasBf16Conversion; ///< cvt to bf16, and packed to f16x2 and bf16x2
  bool hasFp8Conversion;  ///< cvt from and to e4m3 and e5m2
  bool hasBf16Atomics;    ///< atom.add of bf16 and pairs of it
  bool hasVectorAtomics;  ///< atom.add of up to 16 bytes of f32, f16 and bf16
  bool hasWarpMma;        ///< mma.sync of 16-bit floats, tf32, bytes and f64
  bool hasAsyncCopy;      ///< cp.async
  bool hasTma;
  bool makesTensorMaps; ///< tensormap.replace
  bool hasStmatrix;     ///< stmatrix
  bool hasWgmma;
  bool hasClusters;
  uint32_t maxSharedBytes;  ///< of one block
  uint32_t residentThreads; ///< of one multiprocessor
};

inline constexpr unsigned lowestCapability = 70;

/// What code is made for where the user writes "90", "90a", "sm_90a" (all features of 9.0) or "sm_90" (those that later
/// GPUs have, too). A capability between or above the rows gets the portable code of the one below. Nothing, and the
/// reason, for other names.
std::optional<Arch> findArch(const std::string &name, std::string &reason);

/// The spelling by which equal targets are known: "90" and "sm_90" of the names above.
std::string canonicalName(const std::string &name);

/// Assemblers of CUDA 12.3 and 12.4 take the strides of `tensormap.replace` without their lowest four bits; they know
/// no PTX of this version, and count as too old for it.
inline constexpr unsigned kTensorMapPtx = 85;

} // namespace nereid::nvidia
