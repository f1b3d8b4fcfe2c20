// The properties that HIP reports of a known GPU, for devices that are simulated.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/AmdGpus.h"
#include "runtime/Device.h"

namespace nereid::runtime {

DeviceProperties propertiesOf(const artifact::AmdGpu &gpu);

} // namespace nereid::runtime
