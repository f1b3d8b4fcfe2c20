// The homes of the device interface's virtual tables.
// SPDX-License-Identifier: MIT
#include "runtime/Device.h"

namespace nereid::runtime {

Kernel::~Kernel() = default;
Device::~Device() = default;

} // namespace nereid::runtime
