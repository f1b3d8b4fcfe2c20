// The memory that a stub's queries know.
// SPDX-License-Identifier: MIT
#include "test/stub/Stub.h"

#include <mutex>

static std::mutex mutex;
static std::vector<stub::Memory> known;
static uint64_t next = 0x7f0000000000;

void stub_add_memory(uint64_t start, uint64_t bytes, int type, int ordinal) {
  std::lock_guard<std::mutex> lock(mutex);
  known.push_back({start, bytes, type, ordinal});
}

namespace stub {

void forgetMemory() {
  std::lock_guard<std::mutex> lock(mutex);
  known.clear();
}

Memory memoryAt(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  Memory found;
  for (const Memory &each : known)
    if (address >= each.start && address < each.start + each.bytes)
      found = each;
  return found;
}

uint64_t nextAddress() { return next; }

uint64_t allocate(uint64_t bytes, int ordinal) {
  const uint64_t address = next;
  next += (bytes + 511) / 512 * 512;
  stub_add_memory(address, bytes, 2, ordinal);
  return address;
}

void release(uint64_t start) {
  std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(known, [&](const Memory &each) { return each.start == start; });
}

} // namespace stub
