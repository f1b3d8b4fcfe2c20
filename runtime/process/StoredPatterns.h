// Memory that holds the fill value of new memory because a checked kernel has stored it there.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

namespace nereid::runtime {

/// The addresses of such elements, of the whole process: later launches may read them.
class StoredPatterns {
public:
  static StoredPatterns &all();

  bool contains(uint64_t address);
  void insert(uint64_t address);
  void erase(uint64_t address);
  /// The memory has been freed, or filled anew.
  void eraseAll(uint64_t begin, uint64_t end);

private:
  std::mutex mutex;
  std::set<uint64_t> addresses;
};

} // namespace nereid::runtime
