// The CPU as a device: programs run on the calling thread and a pool beside it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <memory>

namespace nereid::runtime {

/// The process's CPU device; made at first use, which starts no thread.
Device &cpuDevice();

/// Runs one program of a launch of that grid, on the calling thread; `kernel` was loaded by `cpuDevice()`, and
/// `program` is inside of the grid.
Expected<void> launchCpuProgram(Kernel &kernel, Grid grid, Grid program, std::span<const char> packed);

/// Number of threads that a launch may use, the calling one included. Zero
/// restores the default: the processors that this process may run on. Takes
/// effect at the next launch that starts.
void setCpuThreads(uint32_t threads);
uint32_t cpuThreads();

/// A question that long launches ask on the thread that launches, every few
/// hundredths of a second: true ends the launch with the error
/// `launch-interrupted`. Programs that have begun are finished, others are not
/// run. Null: nobody is asked.
void setCpuStopCheck(bool (*check)());

} // namespace nereid::runtime
