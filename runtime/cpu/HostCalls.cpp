// Serves the calls of kernels: keeps the first failure of each launch, hands what is to be printed to the printer.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/HostCalls.h"

#include "runtime/cpu/Check.h"
#include "runtime/cpu/Print.h"
#include "runtime/cpu/ProgramRange.h"

#include <utility>

namespace nereid::runtime {

static thread_local LaunchFailure *current = nullptr;

FailureScope::FailureScope(LaunchFailure *failure) : before(std::exchange(current, failure)) {}
FailureScope::~FailureScope() { current = before; }

void Programs::runReporting(uint64_t begin, uint64_t end, char *arena) const {
  if (failure->happened())
    return;
  const FailureScope scope(failure);
  entry(packed, grid, begin, end, arena);
}

static std::atomic<uint64_t> launches{0};

LaunchFailure::LaunchFailure(LaunchMemory memory)
    : memory(memory), launch(launches.fetch_add(1, std::memory_order_relaxed) + 1) {}

LaunchFailure *currentFailure() { return current; }

void LaunchFailure::report(std::string text, const char *code) {
  const std::lock_guard lock(mutex);
  if (isSet.load(std::memory_order_relaxed))
    return;
  message = std::move(text);
  kind = code;
  isSet.store(true, std::memory_order_release);
}

static void fail(const char *text, const uint32_t ids[3]) {
  if (current)
    current->report(std::string(text) + "; in program (" + std::to_string(ids[0]) + ", " +
                        std::to_string(ids[1]) + ", " + std::to_string(ids[2]) + ")",
                    "device-assert");
}

const HostCalls &hostCalls() {
  static constexpr HostCalls calls{&printValues, &fail, &checkValues};
  return calls;
}

} // namespace nereid::runtime
