// Polls the host whether to stop a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>

namespace nereid::runtime {

/// Used for one launch, by the launching thread. A launch that is shorter than the first interval never polls.
class StopCheck {
public:
  static constexpr auto kInterval = std::chrono::milliseconds(50);
  static inline std::atomic<bool (*)()> check{nullptr};

  /// Whether the host requests that the launch ends.
  bool isStopRequested() {
    const auto time = Clock::now();
    if (time < next)
      return false;
    next = time + kInterval;
    bool (*const ask)() = check.load(std::memory_order_relaxed);
    return ask && ask();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next = Clock::now() + kInterval;
};

} // namespace nereid::runtime
