// A set behind a lock.
// SPDX-License-Identifier: MIT
#include "runtime/process/StoredPatterns.h"

namespace nereid::runtime {

StoredPatterns &StoredPatterns::all() {
  static auto *const stored = new StoredPatterns; // launches may outlast main()
  return *stored;
}

bool StoredPatterns::contains(uint64_t address) {
  const std::lock_guard lock(mutex);
  return addresses.contains(address);
}

void StoredPatterns::insert(uint64_t address) {
  const std::lock_guard lock(mutex);
  addresses.insert(address);
}

void StoredPatterns::erase(uint64_t address) {
  const std::lock_guard lock(mutex);
  addresses.erase(address);
}

void StoredPatterns::eraseAll(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex);
  addresses.erase(addresses.lower_bound(begin), addresses.lower_bound(end));
}

} // namespace nereid::runtime
