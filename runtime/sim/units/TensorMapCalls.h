// The simulator in the place of the driver that encodes tensor maps.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDriver.h"

namespace nereid::sim {

/// A table whose only function encodes tensor maps for the simulated GPU.
const runtime::cuda::DriverCalls &tensorMapCalls();

} // namespace nereid::sim
