// The names of the last kernels launched on a device: one of them is the cause when the device fails later.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace nereid::runtime {

class LaunchHistory {
public:
  /// Records a launch and returns its number. `name` must never be freed.
  uint64_t record(const char *name) {
    const uint64_t at = count.fetch_add(1, std::memory_order_relaxed);
    names[at % kCapacity].store(name, std::memory_order_relaxed);
    return at;
  }

  /// Removes the record of a launch that failed to start.
  void takeBack(uint64_t at, const char *name) {
    names[at % kCapacity].compare_exchange_strong(name, nullptr, std::memory_order_relaxed);
  }

  /// The number of the next entry.
  uint64_t next() const { return count.load(std::memory_order_relaxed); }

  /// Drops the entries before that one, whose launches have succeeded.
  void forgetBefore(uint64_t at);

  /// "`add`, `softmax` (3 times)", oldest first; empty where there are none.
  std::string text() const;

private:
  static constexpr uint64_t kCapacity = 16;
  std::array<std::atomic<const char *>, kCapacity> names{};
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> first{0}; ///< the first entry that has not been dropped
};

/// A copy of the text that is never freed; equal texts share one.
const char *internedName(const std::string &name);

} // namespace nereid::runtime
