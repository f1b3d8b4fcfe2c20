// Properties of the processor that this process runs on.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <string_view>

namespace nereid::runtime {

/// Checks that code for these LLVM features ("+avx2,-amx-tile,...") runs here, and requests from the system those that
/// need a request (AMX).
artifact::Expected<void> establishFeatures(std::string_view features);

/// The CPU's values for the device properties of a GPU.
DeviceProperties hostProperties();

} // namespace nereid::runtime
