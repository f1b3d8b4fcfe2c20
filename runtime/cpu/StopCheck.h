// Asks the host now and then whether a launch is still wanted.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>

namespace nereid::runtime {

/// Of one launch, for the thread that launches. A launch that is shorter than the first interval never asks.
class StopCheck {
public:
  static constexpr auto kInterval = std::chrono::milliseconds(50);
  static inline std::atomic<bool (*)()> check{nullptr};

  /// Whether the host wants the launch to end.
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
