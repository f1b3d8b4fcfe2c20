// Notices that other processes use the processors, from how late the threads of a team begin.
// SPDX-License-Identifier: MIT
//
// A region of a team ends when its last thread has begun and ended. Where other processes run, that thread waits for
// their time slices, several milliseconds for each: launches do without the team for a while. docs/why/cpu-threads.md
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace nereid::runtime {

/// Races between launches cost time, never a result.
class Crowding {
public:
  using Time = std::chrono::nanoseconds; ///< since any fixed moment

  bool isCrowded(Time now = clock()) const {
    const int64_t end = until.load(std::memory_order_relaxed);
    return end != 0 && now.count() < end;
  }
  /// Reports how late the last thread of a region began. A single late region may be one whose threads had to be
  /// started or slept, as after a time without the team: the next one begins while they are awake, unless it is
  /// crowded. That time doubles as long as it stays crowded.
  void report(Time lateness, Time now = clock()) {
    if (lateness <= kLate) {
      wasLate.store(false, std::memory_order_relaxed);
      period.store(kShortest.count(), std::memory_order_relaxed);
      return;
    }
    if (!wasLate.exchange(true, std::memory_order_relaxed))
      return;
    const Time wait{period.load(std::memory_order_relaxed)};
    until.store((now + wait).count(), std::memory_order_relaxed);
    period.store(std::min(2 * wait, kLongest).count(), std::memory_order_relaxed);
    wasLate.store(false, std::memory_order_relaxed);
  }

  /// Most sleeping threads are awake earlier than this where a processor is free; those of a virtual machine may not
  /// be.
  static constexpr Time kLate = std::chrono::microseconds(500);
  static constexpr Time kShortest = std::chrono::milliseconds(50), kLongest = std::chrono::seconds(1);

private:
  static Time clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

  std::atomic<bool> wasLate{false};               ///< in the region before, since the last time without the team
  std::atomic<int64_t> until{0};                  ///< 0: never was
  std::atomic<int64_t> period{kShortest.count()}; ///< the next time without the team
};

} // namespace nereid::runtime
