// AMD's GPUs that are simulated, and the figures by which grids and tiles are sized.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <span>
#include <string_view>

namespace nereid::sim {

struct AmdGpu {
  std::string_view arch; ///< "gfx942"
  uint32_t waveLanes, computeUnits;
  uint32_t sharedBytes; ///< of a compute unit
  uint32_t clockKhz, memoryClockKhz, memoryBusBits;
  uint64_t cacheBytes;
};

std::span<const AmdGpu> amdGpus();
/// Null for an architecture that is not simulated.
const AmdGpu *findAmdGpu(std::string_view arch);
runtime::DeviceProperties propertiesOf(const AmdGpu &gpu);

} // namespace nereid::sim
