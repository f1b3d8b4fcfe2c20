// The CPU as a device: programs run on the calling thread and a pool beside it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <memory>

namespace nereid::runtime {

/// The process's CPU device; made at first use, which starts no thread.
Device &cpuDevice();

/// Number of threads that a launch may use, the calling one included. Zero
/// restores the default: the processors that this process may run on. Takes
/// effect at the next launch that starts.
void setCpuThreads(uint32_t threads);
uint32_t cpuThreads();

} // namespace nereid::runtime
