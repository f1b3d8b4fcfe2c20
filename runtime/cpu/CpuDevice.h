// The CPU as a device: programs run on the calling thread and a thread pool.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <memory>
#include <string_view>

namespace nereid::runtime {

/// The process's CPU device, created at first use without starting a thread.
Device &cpuDevice();

/// Runs one program of a launch of that grid, on the calling thread; `kernel` was loaded by `cpuDevice()`, and
/// `program` is inside the grid.
Expected<void> launchCpuProgram(Kernel &kernel, Grid grid, Grid program, std::span<const char> packed);

/// Number of threads that a launch may use, the calling one included. Zero
/// restores the default: the processors that this process may run on, limited by CPU quotas of cgroups and by the
/// request below. Takes effect at the next launch that starts.
void setCpuThreads(uint32_t threads);
uint32_t cpuThreads();

/// Sets a function that is called when the default is resolved, at the first launch of several programs; it returns the
/// user's limit, or zero for none. The runtime itself reads no environment variable.
void setCpuThreadRequest(uint32_t (*request)());
/// The number in a value of OMP_NUM_THREADS; zero where it has none.
uint32_t cpuThreadsOfVariable(std::string_view openMpVariable);

/// Sets a callback that long launches call on the launching thread, every few hundredths of a second: true ends the
/// launch with the error `launch-interrupted`. Programs that have started are finished unless
/// they wait for others, others are not run. Null:
/// launches are not interrupted.
void setCpuStopCheck(bool (*check)());

/// How long all programs of a launch may wait for each other before it ends with the error `launch-deadlock`; zero: for
/// ever.
void setCpuWaitLimit(double seconds);

} // namespace nereid::runtime
