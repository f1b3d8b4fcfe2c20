// Rates and limits of GPUs, for the estimate of time.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/ptx/Kinds.h"

#include <span>
#include <string>
#include <string_view>

namespace nereid::sim {

struct GpuRates {
  std::string_view name; ///< as users write it
  uint32_t capability;
  uint32_t multiprocessors;
  double ghz, tensorGhz; ///< tensorGhz: sustained while the tensor cores are busy

  //--- per second and GPU --------------------------------------------------------------------
  double dramBytes;                  ///< that copies reach, not the data sheet's
  double l2LineBytes, l2SectorBytes; ///< of whole lines, of single sectors
  double atomicSectors;              ///< sectors of atomics
  uint64_t l2Capacity;

  //--- per clock and SM ----------------------------------------------------------------------
  double warpIssues;
  double float32Lanes, float16Lanes, float64Lanes, integerLanes, specialLanes, convertLanes;
  double l1Bytes;                      ///< of L1 and shared memory
  double tensorFlops[kNumTensorTypes]; ///< dense; 0: the GPU lacks the type
  double mmaShare;                     ///< what `mma` reaches of them; wgmma reaches all

  //--- limits of an SM -----------------------------------------------------------------------
  uint32_t registers, sharedBytes, warps, ctas;
  uint32_t reservedSharedBytes; ///< of each CTA

  double launchSeconds;  ///< from one launch to the next, of an empty kernel
  double latencySeconds; ///< of an access to DRAM
};

std::span<const GpuRates> knownGpus();
/// Null where there is no such GPU; case does not matter.
const GpuRates *findGpu(std::string_view name);
/// "there is no table of rates for `H300`; there are H200, H100, A100".
std::string unknownGpu(std::string_view name);
/// The GPU that a compute capability stands for.
const GpuRates &gpuOfCapability(uint32_t capability);

} // namespace nereid::sim
