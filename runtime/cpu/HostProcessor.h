// Facts of the processor that this process runs on.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <string_view>

namespace nereid::runtime {

/// Checks that code for these LLVM features ("+avx2,-amx-tile,...") runs here,
/// and asks the system for those that it grants on request (AMX).
artifact::Expected<void> establishFeatures(std::string_view features);

/// What the CPU gives where people ask a GPU for its figures.
DeviceProperties hostProperties();

} // namespace nereid::runtime
