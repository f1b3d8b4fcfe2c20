// Occupancy of a GPU's SMs by a kernel, and a first-order estimate of its time.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/NvidiaGpus.h"
#include "runtime/sim/counters/LaunchProfile.h"

namespace nereid::sim {

struct Occupancy {
  uint32_t ctas = 0, warps = 0; ///< on an SM at once
  const char *limit = "";       ///< "registers", "shared memory", "warps", "CTAs"
  double waves = 0;             ///< CTAs of the grid per CTAs that are resident on the GPU
};

Occupancy occupancyOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu);

struct Resource {
  const char *name = "";
  double seconds = 0; ///< time that this resource alone would take
};

struct Estimate {
  double seconds = 0;
  std::vector<Resource> resources; ///< the slowest first
  bool isInL2 = false;             ///< all data stay in L2 from one launch to the next
};

Estimate estimateOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu);

/// "there is no table of rates for the GPU `H300`; there are H200, H100, A100".
std::string unknownGpu(std::string_view name);

} // namespace nereid::sim
