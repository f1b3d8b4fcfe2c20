// Keeps multicast memory by its first address.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Multicast.h"

#include <map>
#include <mutex>
#include <shared_mutex>

using namespace nereid::sim;

// Above all addresses of the host, below the windows of the other spaces.
static constexpr uint64_t kFirst = uint64_t{1} << 48, kGranularity = uint64_t{1} << 21;

namespace {
struct Table {
  std::shared_mutex mutex;
  std::map<uint64_t, std::shared_ptr<const MulticastMemory>> memories;
  uint64_t next = kFirst;
};
} // namespace

static Table &table() {
  static auto *const instance = new Table;
  return *instance;
}

uint64_t nereid::sim::addMulticast(std::vector<uint64_t> members, uint64_t bytes) {
  std::unique_lock lock(table().mutex);
  const uint64_t begin = table().next;
  table().next += (bytes / kGranularity + 1) * kGranularity;
  table().memories[begin] = std::make_shared<MulticastMemory>(MulticastMemory{begin, bytes, std::move(members)});
  return begin;
}

void nereid::sim::removeMulticast(uint64_t begin) {
  std::unique_lock lock(table().mutex);
  table().memories.erase(begin);
}

std::shared_ptr<const MulticastMemory> nereid::sim::findMulticast(uint64_t address) {
  std::shared_lock lock(table().mutex);
  const auto &memories = table().memories;
  const auto after = memories.upper_bound(address);
  if (after == memories.begin())
    return nullptr;
  const auto &found = std::prev(after)->second;
  return address - found->begin < found->bytes ? found : nullptr;
}
