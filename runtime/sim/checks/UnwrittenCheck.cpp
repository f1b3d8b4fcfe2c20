// Compares what is read of global memory with the value that new memory was filled with.
// SPDX-License-Identifier: MIT
#include "runtime/process/StoredPatterns.h"
#include "runtime/sim/checks/Checks.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

using namespace nereid::sim;
using nereid::runtime::StoredPatterns;

namespace {
class UnwrittenCheck final : public Observer {
public:
  explicit UnwrittenCheck(Cluster &cluster);
  bool onAccess(Warp &warp, const MemoryAccess &access) override;
  void onEnd(Cluster &cluster) override;

private:
  struct Element {
    uint64_t address;
    const Buffer *buffer;
  };
  const Buffer *bufferAt(uint64_t address) const;
  /// Calls `visit` for the elements that the bytes contain; where `isPartial`, also for those that they only touch.
  template <typename Visit>
  void forElements(uint64_t address, uint32_t bytes, bool isPartial, const Visit &visit) const;
  bool report(Warp &warp, const MemoryAccess &access, unsigned lane, Element element) const;

  const Launch &launch;
  std::vector<const Buffer *> patterned;
  std::unordered_set<uint64_t> written; ///< by this cluster
};
} // namespace

static bool holdsPattern(const Buffer &buffer, uint64_t address) {
  return std::memcmp(reinterpret_cast<const void *>(address), &buffer.pattern, buffer.patternBytes) == 0;
}

UnwrittenCheck::UnwrittenCheck(Cluster &cluster) : launch(*cluster.launch) {
  for (const Buffer &buffer : launch.buffers)
    if (buffer.isKnown && buffer.patternBytes)
      patterned.push_back(&buffer);
}

const Buffer *UnwrittenCheck::bufferAt(uint64_t address) const {
  const auto found = std::ranges::find_if(
      patterned, [&](const Buffer *buffer) { return address >= buffer->begin && address < buffer->end; });
  return found == patterned.end() ? nullptr : *found;
}

template <typename Visit>
void UnwrittenCheck::forElements(uint64_t address, uint32_t bytes, bool isPartial, const Visit &visit) const {
  const Buffer *buffer = bufferAt(address);
  if (!buffer)
    return;
  const uint32_t size = buffer->patternBytes;
  uint64_t first = address - (address - buffer->begin) % size;
  if (first != address && !isPartial)
    first += size;
  for (uint64_t at = first; at + (isPartial ? 1 : size) <= address + bytes && at + size <= buffer->end; at += size)
    visit(Element{at, buffer});
}

bool UnwrittenCheck::report(Warp &warp, const MemoryAccess &access, unsigned lane, Element element) const {
  fail(warp, *access.instruction, "sanitize-uninit",
       globalPlaceText(launch, element.address) + ", at byte " +
           std::to_string(int64_t(element.address - element.buffer->base)) + ", is " +
           (access.isAtomic ? "updated" : "read") + "; nothing has been written there",
       int(access.threadOf(lane)));
  return false;
}

/// A copy reads when it takes effect, and its elements are not yet written when it is issued.
bool UnwrittenCheck::onAccess(Warp &warp, const MemoryAccess &access) {
  if (access.space != Space::Global || access.stage == Stage::Issue)
    return true;
  StoredPatterns &stored = StoredPatterns::all();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(access.lanes >> lane & 1))
      continue;
    Element wrong{};
    if (access.reads && !access.replaces)
      forElements(access.addresses[lane], access.bytes, false, [&](Element element) {
        if (!wrong.buffer && holdsPattern(*element.buffer, element.address) && !stored.contains(element.address))
          wrong = element;
      });
    if (wrong.buffer)
      return report(warp, access, lane, wrong);
    if (access.writes)
      forElements(access.addresses[lane], access.bytes, true, [&](Element element) {
        written.insert(element.address);
        stored.insert(element.address);
      });
  }
  return true;
}

/// From here on only those count that look unwritten. Memory that is freed and allocated again is new.
void UnwrittenCheck::onEnd(Cluster &) {
  for (const uint64_t address : written)
    if (const Buffer *buffer = bufferAt(address); buffer && !holdsPattern(*buffer, address))
      StoredPatterns::all().erase(address);
}

std::shared_ptr<Observer> nereid::sim::makeUnwrittenCheck(Cluster &cluster) {
  const bool hasPatterns = std::ranges::any_of(
      cluster.launch->buffers, [](const Buffer &buffer) { return buffer.isKnown && buffer.patternBytes; });
  return hasPatterns ? std::make_shared<UnwrittenCheck>(cluster) : nullptr;
}
