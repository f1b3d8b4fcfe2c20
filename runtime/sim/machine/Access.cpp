// Translates addresses of all lanes of an access, checks them and tells the observers.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"

#include <bit>
#include <cstdio>

using namespace nereid::sim;

static constexpr uint64_t kOffsetMask = (uint64_t{1} << kWindowShift) - 1;
static constexpr uint64_t kLowestGlobal = 65536, kGlobalEnd = uint64_t{1} << 47;

Space nereid::sim::spaceOfAddress(Space space, uint64_t address) {
  if (space != Space::Generic && space != Space::Global)
    return space;
  if (space == Space::Global) // an instruction for global memory cannot reach the windows of the others
    return address >> kWindowShift ? Space::Generic : Space::Global;
  switch (static_cast<Window>(address >> kWindowShift)) {
  case Window::Global:
    return Space::Global;
  case Window::Shared:
    return Space::Shared;
  case Window::Local:
    return Space::Local;
  case Window::Param:
    return Space::Param;
  default:
    return Space::Generic;
  }
}

//--- one address ---------------------------------------------------------------------------

static char *outside(Warp &warp, const Instruction &instruction, const char *space, uint64_t address, unsigned lane) {
  char text[96];
  std::snprintf(text, sizeof(text), "access to no memory: address 0x%llx of %s",
                static_cast<unsigned long long>(address), space);
  return fail(warp, instruction, "sim-fault", text, int(lane)), nullptr;
}

char *nereid::sim::findShared(const Warp &warp, uint64_t address, unsigned bytes) {
  const uint32_t rank = uint32_t(address) >> kRankShift, at = uint32_t(address) & ((1u << kRankShift) - 1);
  Cluster &cluster = *warp.cta->cluster;
  Cta *cta = rank == 0 ? warp.cta : rank <= cluster.ctas.size() ? &cluster.ctas[rank - 1] : nullptr;
  return cta && uint64_t{at} + bytes <= cta->sharedBytes ? cta->shared + at : nullptr;
}

static char *hostAddress(Warp &warp, const Instruction &instruction, Space space, uint64_t address, unsigned lane,
                         unsigned bytes) {
  const uint64_t offset = address & kOffsetMask;
  switch (spaceOfAddress(space, address)) {
  case Space::Generic:
    break;
  case Space::Global:
    if (address >= kLowestGlobal && address < kGlobalEnd)
      return reinterpret_cast<char *>(address);
    break;
  case Space::Shared:
    if (char *found = findShared(warp, address, bytes))
      return found;
    return outside(warp, instruction, "shared memory", uint32_t(address), lane);
  case Space::Local: {
    const uint64_t each = warp.local.size() / kLanes;
    if (offset + bytes <= each)
      return warp.local.data() + lane * each + offset;
    return outside(warp, instruction, "local memory", offset, lane);
  }
  case Space::Param: {
    const std::span<const char> params = warp.cta->cluster->launch->params;
    if (offset + bytes <= params.size())
      return const_cast<char *>(params.data()) + offset;
    return outside(warp, instruction, "the parameters", offset, lane);
  }
  }
  return outside(warp, instruction, "global memory", address, lane);
}

char *nereid::sim::translate(Warp &warp, const Instruction &instruction, Space space, uint64_t address, unsigned lane,
                             unsigned bytes, uint32_t alignment) {
  char *host = hostAddress(warp, instruction, space, address, lane, bytes);
  if (!host || !(address & (alignment - 1)))
    return host;
  char text[128];
  std::snprintf(text, sizeof(text), "misaligned access: address 0x%llx is no multiple of %u",
                static_cast<unsigned long long>(address), alignment);
  return fail(warp, instruction, "sim-misaligned", text, int(lane)), nullptr;
}

//--- all lanes -----------------------------------------------------------------------------

bool nereid::sim::notify(Warp &warp, const MemoryAccess &access) {
  for (const std::shared_ptr<Observer> &observer : warp.cta->cluster->observers)
    if (!observer->onAccess(warp, access))
      return false;
  return true;
}

/// Global addresses, or addresses of the CTA's own shared memory, of all lanes; false: some lane needs more.
static bool resolvePlain(Warp &warp, const MemoryAccess &access, uint64_t misaligned, HostAddresses &host) {
  uint64_t problems = 0;
  if (access.space == Space::Shared) {
    const Cta &cta = *warp.cta;
    const uint64_t end = cta.sharedBytes < access.bytes ? 0 : cta.sharedBytes - access.bytes + 1;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t at = uint32_t(access.addresses[lane]), isActive = access.lanes >> lane & 1;
      problems |= ((at & misaligned) | uint64_t{at >= end}) & -isActive;
      host[lane] = cta.shared + at;
    }
    return !problems;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t at = access.addresses[lane], isActive = access.lanes >> lane & 1;
    problems |= ((at & misaligned) | uint64_t{at - kLowestGlobal >= kGlobalEnd - kLowestGlobal}) & -isActive;
    host[lane] = reinterpret_cast<char *>(at);
  }
  return !problems;
}

/// Tells of the lanes of each space apart.
static bool notifyBySpace(Warp &warp, const MemoryAccess &access) {
  for (uint32_t left = access.lanes; left;) {
    MemoryAccess part = access;
    part.space = spaceOfAddress(access.space, access.addresses[std::countr_zero(left)]);
    part.lanes = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (left >> lane & 1 && spaceOfAddress(access.space, access.addresses[lane]) == part.space)
        part.lanes |= 1u << lane;
    left &= ~part.lanes;
    if (!notify(warp, part))
      return false;
  }
  return true;
}

bool nereid::sim::resolve(Warp &warp, MemoryAccess &access, uint32_t alignment, HostAddresses &host) {
  access.host = host;
  const bool isPlain = access.space == Space::Shared || access.space == Space::Global || access.space == Space::Generic;
  if (isPlain && resolvePlain(warp, access, alignment - 1, host)) {
    if (!warp.cta->cluster->isObserved)
      return true;
    if (access.space == Space::Generic)
      access.space = Space::Global;
    return notify(warp, access);
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(access.lanes >> lane & 1))
      continue;
    host[lane] = translate(warp, *access.instruction, access.space, access.addresses[lane], access.threadOf(lane),
                           access.bytes, alignment);
    if (!host[lane])
      return false;
  }
  return !warp.cta->cluster->isObserved || notifyBySpace(warp, access);
}

LaneAccess::LaneAccess(Warp &warp, const Instruction &decoded, Space where, uint32_t slot, uint64_t offset,
                       uint32_t size) {
  instruction = &decoded;
  space = where;
  lanes = warp.mask;
  bytes = size;
  scope = decoded.scope;
  order = decoded.order;
  addresses = values;
  MemoryAccess::slot = slot;
  const auto *base = warp.at<uint64_t>(slot);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = base[lane] + offset;
}

bool LaneAccess::resolve(Warp &warp, uint32_t alignment) {
  if (!sim::resolve(warp, *this, alignment ? alignment : bytes, memory))
    return false;
  if (!isAtomic && isGlobal()) {
    if (writes)
      noteChange(warp);
    else if (reads)
      noteRead(warp, *instruction, values[std::countr_zero(lanes)]);
  }
  return true;
}

Step LaneAccess::noteUpdate(Warp &warp, bool changes, bool isReduction) const {
  if (!isGlobal())
    return Step::Next;
  warp.cta->cluster->hasArrived |= !isReduction;
  if (changes)
    noteChange(warp);
  else if (!isReduction)
    noteRead(warp, *instruction, values[std::countr_zero(lanes)]);
  return isWaiting(*warp.cta->cluster) ? Step::Yield : Step::Next;
}

MemoryAccess AsyncOperation::access(Stage stage, Space space, uint32_t bytes, Proxy proxy) const {
  MemoryAccess result;
  result.instruction = instruction;
  result.space = space;
  result.bytes = bytes;
  result.proxy = proxy;
  result.stage = stage;
  result.operation = operation;
  result.issuer = int32_t(lane);
  return result;
}

//--- pieces --------------------------------------------------------------------------------

bool Pieces::add(uint64_t address, char *host) {
  values[count] = address;
  memory[count] = host;
  return ++count < kLanes || flush();
}

bool Pieces::flush() {
  if (!count)
    return true;
  access.lanes = uint32_t((uint64_t{1} << count) - 1);
  access.addresses = values;
  access.host = memory;
  count = 0;
  return notify(warp, access);
}
