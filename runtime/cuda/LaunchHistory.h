// The names of the last kernels that a device was given: one of them is to blame when the device fails later.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace nereid::runtime {

class LaunchHistory {
public:
  /// `name` must live for good.
  void record(const char *name) {
    names[count.fetch_add(1, std::memory_order_relaxed) % kKept].store(name, std::memory_order_relaxed);
  }

  /// All was well until now.
  void clear() { count.store(0, std::memory_order_relaxed); }

  /// "`add`, `softmax` (3 times)", oldest first; empty where there was none.
  std::string text() const;

private:
  static constexpr uint64_t kKept = 16;
  std::array<std::atomic<const char *>, kKept> names{};
  std::atomic<uint64_t> count{0};
};

/// The same text at an address that stays, one for all equal texts.
const char *keptName(const std::string &name);

} // namespace nereid::runtime
