// Runs the programs of a launch, alone or with help, by what they were seen to cost.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/ProgramRange.h"

#include <atomic>

namespace nereid::runtime {

/// What one program of a kernel takes, learnt from its launches. A wrong guess
/// costs time, never a result, so that a race between launches is harmless.
class CostEstimate {
public:
  /// Nanoseconds for one program; zero while nothing is known.
  double nanoseconds() const { return value.load(std::memory_order_relaxed); }
  void learn(double measured);

private:
  std::atomic<float> value{0};
};

enum class LaunchEnd : uint8_t {
  Done,     ///< every program has run
  NoMemory, ///< none has: there is no memory for the calling thread's arena
  Stopped,  ///< some have: the host wanted the launch to end
};

/// Runs all programs, each once, and returns when the last has ended. A program
/// may wait for lower ones.
LaunchEnd runPrograms(const Programs &programs, CostEstimate &cost);

} // namespace nereid::runtime
