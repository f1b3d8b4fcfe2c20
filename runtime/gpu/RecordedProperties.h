// The properties that drivers report of known GPUs, for devices that are simulated.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/AmdGpus.h"
#include "runtime/Device.h"

namespace nereid::runtime {

/// The figures of one GPU of that compute capability (90 is 9.0), by which grids and tiles are sized.
DeviceProperties propertiesOf(unsigned capability);

DeviceProperties propertiesOf(const artifact::AmdGpu &gpu);

} // namespace nereid::runtime
