// The properties that HIP reports of one GPU of each architecture, for devices that are simulated.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <span>
#include <string_view>

namespace nereid::runtime {

struct AmdGpu {
  std::string_view arch; ///< "gfx942"
  DeviceProperties properties;
};

std::span<const AmdGpu> amdGpus();

/// Null where no GPU of that architecture is known.
const AmdGpu *findAmdGpu(std::string_view arch);

} // namespace nereid::runtime
