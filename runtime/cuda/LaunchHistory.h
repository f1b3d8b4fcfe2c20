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
  /// `name` must live for good. The entry's number.
  uint64_t record(const char *name) {
    const uint64_t at = count.fetch_add(1, std::memory_order_relaxed);
    names[at % kCapacity].store(name, std::memory_order_relaxed);
    return at;
  }

  /// It has not been launched after all.
  void takeBack(uint64_t at, const char *name) {
    names[at % kCapacity].compare_exchange_strong(name, nullptr, std::memory_order_relaxed);
  }

  /// The number of the next entry.
  uint64_t next() const { return count.load(std::memory_order_relaxed); }

  /// All was well with the entries before that one.
  void forgetBefore(uint64_t at);

  /// "`add`, `softmax` (3 times)", oldest first; empty where there was none.
  std::string text() const;

private:
  static constexpr uint64_t kCapacity = 16;
  std::array<std::atomic<const char *>, kCapacity> names{};
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> first{0}; ///< that is not forgotten
};

/// The same text at an address that stays, one for all equal texts.
const char *internedName(const std::string &name);

} // namespace nereid::runtime
