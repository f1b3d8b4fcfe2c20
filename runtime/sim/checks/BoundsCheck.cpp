// Follows pointers from the parameters of a launch to its accesses, and reports those outside of their buffers.
// SPDX-License-Identifier: MIT
//
// Each register has the set of buffers that its value was computed from; a value from memory has none. That needs no
// knowledge of what an instruction computes, only of its operands.
#include "runtime/sim/checks/Checks.h"

#include "runtime/sim/units/TensorMap.h"

#include <bit>
#include <map>

using namespace nereid::sim;

namespace {
/// A set of buffers by their index; those from 63 on share a bit, and their accesses are not checked.
using Origins = uint64_t;
constexpr unsigned kUnchecked = 63;

class BoundsCheck final : public Observer {
public:
  explicit BoundsCheck(Cluster &cluster) : buffers(cluster.launch->buffers) {}
  bool onAccess(Warp &warp, const MemoryAccess &access) override;
  void onIssue(Warp &warp, const Instruction &instruction) override;

private:
  std::vector<Origins> &originsOf(const Warp &warp);
  Origins originsOfLoad(const MemoryAccess &access, uint32_t offset) const;
  Origins originsOfMap(const MemoryAccess &access) const;
  bool check(Warp &warp, const MemoryAccess &access, Origins origins);
  bool isInside(Origins origins, uint64_t address, uint32_t bytes) const;
  bool report(Warp &warp, const MemoryAccess &access, Origins origins, unsigned lane) const;

  const std::vector<Buffer> &buffers;
  std::map<const Warp *, std::vector<Origins>> registers;
  const Instruction *loading = nullptr; ///< the last instruction that has read memory
  MemoryAccess load;
  uint64_t loadAddress = 0;
};
} // namespace

std::vector<Origins> &BoundsCheck::originsOf(const Warp &warp) {
  std::vector<Origins> &result = registers[&warp];
  if (result.empty())
    result.resize(warp.cta->cluster->code->fileBytes / kSlotUnit + 1);
  return result;
}

//--- where values come from ----------------------------------------------------------------

Origins BoundsCheck::originsOfLoad(const MemoryAccess &access, uint32_t offset) const {
  if (access.space != Space::Param)
    return 0;
  for (size_t index = 0; index < buffers.size(); ++index)
    if (buffers[index].param == loadAddress + offset)
      return Origins{1} << std::min<size_t>(index, kUnchecked);
  return 0;
}

void BoundsCheck::onIssue(Warp &warp, const Instruction &instruction) {
  if (!warp.mask)
    return;
  const OperandSlots &operands = operandsOf(warp, instruction);
  std::vector<Origins> &origins = originsOf(warp);
  Origins sources = 0;
  const bool isLoad = loading == &instruction;
  loading = nullptr;
  if (!isLoad)
    for (uint32_t slot : operands.sources)
      sources |= origins[slot / kSlotUnit];
  const size_t count = operands.destinations.size();
  for (size_t index = 0; index < count; ++index) {
    Origins &to = origins[operands.destinations[index] / kSlotUnit];
    const Origins from = isLoad ? originsOfLoad(load, uint32_t(load.bytes / count * index)) : sources;
    to = warp.mask == kAllLanes ? from : to | from;
  }
}

//--- accesses ------------------------------------------------------------------------------

bool BoundsCheck::onAccess(Warp &warp, const MemoryAccess &access) {
  if (access.reads && access.stage == Stage::Whole) {
    loading = access.instruction;
    load = access;
    loadAddress = access.addresses[std::countr_zero(access.lanes)];
  }
  if (access.space != Space::Global || access.stage == Stage::Effect)
    return true;
  if (access.map)
    return check(warp, access, originsOfMap(access));
  return access.slot < 0 || check(warp, access, originsOf(warp)[uint32_t(access.slot) / kSlotUnit]);
}

/// A tensor map belongs to the buffer that its base points into.
Origins BoundsCheck::originsOfMap(const MemoryAccess &access) const {
  Origins origins = 0;
  for (size_t index = 0; index < buffers.size() && index < kUnchecked; ++index)
    if (access.map->base >= buffers[index].begin && access.map->base < buffers[index].end)
      origins |= Origins{1} << index;
  return origins;
}

bool BoundsCheck::isInside(Origins origins, uint64_t address, uint32_t bytes) const {
  for (size_t index = 0; index < buffers.size() && index < kUnchecked; ++index) {
    const Buffer &buffer = buffers[index];
    if (origins >> index & 1 && (!buffer.isKnown || (address >= buffer.begin && address + bytes <= buffer.end)))
      return true;
  }
  return false;
}

bool BoundsCheck::check(Warp &warp, const MemoryAccess &access, Origins origins) {
  if (!origins || origins >> kUnchecked)
    return true;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (access.lanes >> lane & 1 && !isInside(origins, access.addresses[lane], access.bytes))
      return report(warp, access, origins, lane);
  return true;
}

static int64_t distance(const Buffer &buffer, uint64_t address) {
  return address < buffer.begin ? int64_t(buffer.begin - address) : int64_t(address - buffer.end);
}

bool BoundsCheck::report(Warp &warp, const MemoryAccess &access, Origins origins, unsigned lane) const {
  const Buffer *nearest = nullptr;
  uint64_t address = access.addresses[lane];
  for (size_t index = 0; index < buffers.size() && index < kUnchecked; ++index)
    if (origins >> index & 1 && (!nearest || distance(buffers[index], address) < distance(*nearest, address)))
      nearest = &buffers[index];
  if (address >= nearest->begin && address < nearest->end)
    address = nearest->end; // the first byte that is outside
  const int64_t offset = int64_t(address - nearest->base), bytes = nearest->elementBytes;
  const int64_t element = offset >= 0 ? offset / bytes : -((bytes - 1 - offset) / bytes);
  const uint64_t size = nearest->end - nearest->begin;
  const std::string quoted = "`" + nearest->name + "`";
  std::string text = "element " + std::to_string(element) + " of " + quoted + ", at byte " + std::to_string(offset) +
                     ", is " +
                     (access.isAtomic ? "updated"
                      : access.writes ? "written"
                                      : "read") +
                     "; ";
  if (!nearest->base)
    text += quoted + " is None";
  else
    text += quoted + " has " + std::to_string(size / uint64_t(bytes)) + " elements, " + std::to_string(size) + " bytes";
  if (nearest->base && nearest->begin != nearest->base)
    text += ", from byte " + std::to_string(int64_t(nearest->begin - nearest->base)) + " on";
  fail(warp, *access.instruction, "sanitize-bounds", text, int(access.threadOf(lane)));
  return false;
}

std::shared_ptr<Observer> nereid::sim::makeBoundsCheck(Cluster &cluster) {
  return std::make_shared<BoundsCheck>(cluster);
}
