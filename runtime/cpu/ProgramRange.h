// The programs of one launch, and the call that runs some of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/CrashReport.h"

#include <cstdint>
#include <optional>

namespace nereid::runtime {

/// Entry point of a CPU kernel: runs the programs of linear id [begin, end) in ascending order, id = x + grid[0] * (y +
/// grid[1] * z). `arena` is memory of the calling thread alone; what its first bytes say: PartOfLaunch.
using CpuEntry = void (*)(const char *packed, const uint32_t grid[3], uint64_t begin, uint64_t end, char *arena);

class LaunchFailure;

/// For the length of a scope, failures of the calling thread's programs belong to this launch.
class FailureScope {
public:
  explicit FailureScope(LaunchFailure *failure);
  ~FailureScope();
  FailureScope(const FailureScope &) = delete;
  FailureScope &operator=(const FailureScope &) = delete;

private:
  LaunchFailure *before;
};

struct Programs {
  CpuEntry entry = nullptr;
  const char *packed = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint64_t total = 0;
  uint64_t arenaBytes = 0;
  std::optional<uint64_t> only;     ///< program to run; nullopt: all
  LaunchFailure *failure = nullptr; ///< of kernels that may report a failure
  const char *kernelName = nullptr; ///< lasting (CrashReport.h)
  bool mayWait = false;             ///< programs may wait for any others, and call `wait` while they do

  void run(uint64_t begin, uint64_t end, char *arena) const {
    const RunningKernel running(kernelName);
    if (failure)
      return runReporting(begin, end, arena);
    entry(packed, grid, begin, end, arena);
  }
  /// Runs a kernel that may fail: no program above one that failed.
  void runReporting(uint64_t begin, uint64_t end, char *arena) const;
};

} // namespace nereid::runtime
