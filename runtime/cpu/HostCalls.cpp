// Implements the host calls of kernels: keeps the first failure of each launch, passes printed values to the printer.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/HostCalls.h"

#include "runtime/cpu/Check.h"
#include "runtime/cpu/Print.h"
#include "runtime/cpu/ProgramRange.h"
#include "runtime/cpu/WaitingLaunch.h"

#include <algorithm>
#include <utility>

namespace nereid::runtime {

static thread_local LaunchFailure *current = nullptr;

FailureScope::FailureScope(LaunchFailure *failure) : before(std::exchange(current, failure)) {}
FailureScope::~FailureScope() { current = before; }

void Programs::runReporting(uint64_t begin, uint64_t end, char *arena) const {
  const FailureScope scope(failure);
  entry(packed, grid, begin, std::min(end, failure->program()), arena);
}

static std::atomic<uint64_t> launches{0};

LaunchFailure::LaunchFailure(const uint32_t grid[3], LaunchMemory memory)
    : memory(memory), launch(launches.fetch_add(1, std::memory_order_relaxed) + 1), columns(grid[0]), rows(grid[1]) {}

LaunchFailure *currentFailure() { return current; }

void LaunchFailure::report(const uint32_t ids[3], std::string text, const char *code) {
  const uint64_t program = ids[0] + columns * (ids[1] + rows * ids[2]);
  const std::lock_guard lock(mutex);
  if (lowest.load(std::memory_order_relaxed) <= program)
    return;
  message = std::move(text);
  kind = code;
  lowest.store(program, std::memory_order_release);
}

static void fail(const char *text, const uint32_t ids[3]) {
  if (current)
    current->report(ids,
                    std::string(text) + "; in program (" + std::to_string(ids[0]) + ", " + std::to_string(ids[1]) +
                        ", " + std::to_string(ids[2]) + ")",
                    "device-assert");
}

const HostCalls &hostCalls() {
  static constexpr HostCalls calls{&printValues, &fail, &checkValues, &waitForOthers, &startOthers};
  return calls;
}

} // namespace nereid::runtime
