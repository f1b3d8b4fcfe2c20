// Runs the programs of a launch, on one thread or several, depending on their measured cost.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/ProgramRange.h"

#include <atomic>

namespace nereid::runtime {

/// The cost of one program of a kernel, measured at its launches. A wrong estimate costs time, never a result, so a
/// race between launches is harmless.
class CostEstimate {
public:
  /// Nanoseconds for one program; zero while unknown.
  double nanoseconds() const { return value.load(std::memory_order_relaxed); }
  void learn(double measured);

private:
  std::atomic<float> value{0};
};

enum class LaunchEnd : uint8_t {
  Done,     ///< every program has run
  NoMemory, ///< no program has run: there is no memory for the calling thread's arena
  Stopped,  ///< some programs have run: the host stopped the launch
};

/// Threads that a launch of the calling thread may use, this one included. A limit set on a team that others share, as
/// by `torch.set_num_threads`, applies here too.
uint32_t launchThreads();

/// Whether a launch that is shared runs on the OpenMP team, rather than on the pool.
bool sharesWithTeam();
/// Whether the address space has room for the stacks of so many threads.
bool hasRoomForThreads(uint32_t threads);

/// Runs all programs, each once, and returns when the last has ended. A program
/// may wait for lower ones.
LaunchEnd runPrograms(const Programs &programs, CostEstimate &cost);

} // namespace nereid::runtime
