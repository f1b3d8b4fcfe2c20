// Lists the features of NVIDIA GPU generations by name; no other file compares compute capabilities.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::nvidia {

/// The largest cluster, in CTAs, that some GPU can schedule.
inline constexpr unsigned kMaxClusterCtas = 16;

struct Arch {
  unsigned capability;    ///< 90 is compute capability 9.0
  const char *cpu;        ///< LLVM's and ptxas's name, with generation-specific features
  const char *portable;   ///< the same without them: its PTX runs on later GPUs
  unsigned ptxVersion;    ///< the lowest that supports the emitted code; 80 is 8.0
  bool hasToolchain;      ///< ptxas 13 supports it; otherwise the driver compiles the PTX
  bool hasWarpReduce;     ///< redux.sync
  bool hasBf16Conversion; ///< cvt to bf16, and packed to f16x2 and bf16x2
  bool hasFp8Conversion;  ///< cvt from and to e4m3 and e5m2
  bool hasXorSign;        ///< min and max of magnitudes, with the sign of the product
  bool hasBf16Atomics;    ///< atom.add of bf16 and pairs of it
  bool hasVectorAtomics;  ///< atom.add of up to 16 bytes of f32, f16 and bf16
  bool hasWarpMma;        ///< mma.sync of 16-bit floats, tf32, int8 and f64
  bool hasAsyncCopy;      ///< cp.async
  bool hasTma;
  bool makesTensorMaps; ///< tensormap.replace
  bool hasStmatrix;     ///< stmatrix
  bool hasWgmma;
  bool hasClusters;
  uint32_t maxSharedBytes;  ///< per CTA
  uint32_t residentThreads; ///< per multiprocessor
};

inline constexpr unsigned lowestCapability = 70;

/// The architecture for "90", "90a", "sm_90a" (all features of 9.0) or "sm_90" (those that later GPUs have, too). A
/// capability between or above the rows gets the portable form of the row below. Other names give nothing and set
/// `reason`.
std::optional<Arch> findArch(const std::string &name, std::string &reason);

/// The spelling that equal targets share: "90" and "sm_90" for the names above.
std::string canonicalName(const std::string &name);

/// ptxas of CUDA 12.3 and 12.4 drops the lowest four bits of `tensormap.replace` strides. These versions do not know
/// this PTX version, and so count as too old for it.
inline constexpr unsigned kTensorMapPtx = 85;

} // namespace nereid::nvidia
