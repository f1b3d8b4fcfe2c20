// Counts the instructions and accesses of each cluster, and sums them up at the end of a launch.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/Counting.h"

#include "runtime/sim/counters/Banks.h"

#include <algorithm>
#include <bit>

using namespace nereid::sim;

//--- sectors -------------------------------------------------------------------------------

bool SectorSet::add(uint64_t sector) {
  const uint64_t number = sector / kSectorsPerPage;
  if (number != lastNumber) {
    last = &pages[number]; // values of an unordered_map stay where they are
    lastNumber = number;
  }
  uint64_t &word = last->bits[sector % kSectorsPerPage / 64];
  const uint64_t bit = uint64_t{1} << sector % 64;
  const bool isNew = !(word & bit);
  word |= bit;
  return isNew;
}

void SectorSet::add(const SectorSet &other) {
  for (const auto &[number, page] : other.pages)
    for (unsigned index = 0; index < kSectorsPerPage / 64; ++index)
      pages[number].bits[index] |= page.bits[index];
}

uint64_t SectorSet::count() const {
  uint64_t sum = 0;
  for (const auto &[number, page] : pages)
    for (const uint64_t word : page.bits)
      sum += unsigned(std::popcount(word));
  return sum;
}

void SectorSet::clear() {
  pages.clear();
  last = nullptr;
  lastNumber = ~uint64_t{0};
}

//--- one cluster ---------------------------------------------------------------------------

static Direction directionOf(Kind kind, const MemoryAccess &access) {
  if (kind == Kind::AsyncCopy)
    return Direction::Copy;
  return access.isAtomic ? Direction::Atomic : access.writes ? Direction::Store : Direction::Load;
}

namespace {
class CountingObserver final : public Observer {
public:
  explicit CountingObserver(LaunchCounts &counts) : launchCounts(counts), part(counts.take()) {}

  bool onAccess(Warp &warp, const MemoryAccess &access) override;
  void onIssue(Warp &warp, const Instruction &instruction) override;
  void onEnd(Cluster &) override;

private:
  static size_t indexOf(const Warp &warp, const Instruction &instruction) {
    return size_t(&instruction - warp.cta->cluster->code->instructions.data());
  }
  void countGlobal(Kind kind, InstructionCounts &counts, const MemoryAccess &access);
  static void countShared(InstructionCounts &counts, const MemoryAccess &access, uint32_t banks);
  void countBulk(InstructionCounts &counts, const MemoryAccess &access);
  void touch(uint64_t sector, const MemoryAccess &access, bool isCached);

  LaunchCounts &launchCounts;
  std::unique_ptr<PartialCounts> part;
};
} // namespace

/// An L1 keeps what a cluster has read; bulk copies and atomics bypass it.
void CountingObserver::touch(uint64_t sector, const MemoryAccess &access, bool isCached) {
  if (access.reads) {
    part->read.add(sector);
    part->l2ReadSectors += !isCached || part->ofCluster.add(sector);
  }
  if (access.writes)
    part->written.add(sector);
}

void CountingObserver::countGlobal(Kind kind, InstructionCounts &counts, const MemoryAccess &access) {
  uint64_t sectors[kLanes * 3];
  const uint32_t bytes = std::min(access.bytes, 32u); // no instruction of a lane accesses more
  const uint32_t count = sectorsOf(access.lanes, bytes, access.addresses, sectors);
  ++counts.globalRequests;
  counts.globalBytes += uint64_t{bytes} * unsigned(std::popcount(access.lanes));
  counts.globalSectors += count;
  ++part->globalWidths[size_t(directionOf(kind, access))][unsigned(std::countr_zero(std::bit_floor(bytes | 1u)))];
  for (uint32_t index = 0; index < count; ++index)
    touch(sectors[index], access, /*isCached=*/!access.isAtomic);
}

void CountingObserver::countShared(InstructionCounts &counts, const MemoryAccess &access, uint32_t banks) {
  const BankUse use = bankUseOf(access.lanes, access.bytes, access.addresses, banks);
  ++counts.sharedRequests;
  counts.sharedBytes += uint64_t{access.bytes} * unsigned(std::popcount(access.lanes));
  counts.sharedWavefronts += use.wavefronts;
  counts.sharedConflicts += use.wavefronts - use.minimum;
}

void CountingObserver::countBulk(InstructionCounts &counts, const MemoryAccess &access) {
  counts.bulkBytes += uint64_t{access.bytes} * unsigned(std::popcount(access.lanes));
  for (uint32_t lanes = access.lanes; lanes && access.bytes; lanes &= lanes - 1) {
    const uint64_t address = access.addresses[std::countr_zero(lanes)];
    for (uint64_t sector = address / 32; sector <= (address + access.bytes - 1) / 32; ++sector)
      touch(sector, access, /*isCached=*/false);
  }
}

bool CountingObserver::onAccess(Warp &warp, const MemoryAccess &access) {
  if (access.stage == Stage::Effect || access.proxy == Proxy::TensorMap)
    return true; // counted when it was issued; a tensor map comes from a cache of its own
  const size_t index = indexOf(warp, *access.instruction);
  const Kind kind = warp.cta->cluster->code->profiles[index].kind;
  InstructionCounts &counts = part->instructions[index];
  if (kind == Kind::Barrier)
    return true; // mbarriers have a unit of their own
  if (access.proxy == Proxy::Async) {
    if (access.space == Space::Global)
      countBulk(counts, access);
  } else if (access.space == Space::Global) {
    countGlobal(kind, counts, access);
  } else if (access.space == Space::Shared) {
    countShared(counts, access, warp.cta->cluster->code->sharedBanks);
  }
  return true;
}

void CountingObserver::onIssue(Warp &warp, const Instruction &instruction) {
  InstructionCounts &counts = part->instructions[indexOf(warp, instruction)];
  ++counts.warps;
  counts.lanes += unsigned(std::popcount(warp.mask));
}

void CountingObserver::onEnd(Cluster &) { launchCounts.giveBack(std::move(part)); }

std::shared_ptr<Observer> nereid::sim::makeCounter(LaunchCounts &counts) {
  return std::make_shared<CountingObserver>(counts);
}

//--- the launch ----------------------------------------------------------------------------

std::unique_ptr<PartialCounts> LaunchCounts::take() {
  std::lock_guard lock(mutex);
  if (parts.empty()) {
    auto part = std::make_unique<PartialCounts>();
    part->instructions.resize(code.instructions.size());
    return part;
  }
  std::unique_ptr<PartialCounts> part = std::move(parts.back());
  parts.pop_back();
  return part;
}

void LaunchCounts::giveBack(std::unique_ptr<PartialCounts> part) {
  part->ofCluster.clear();
  std::lock_guard lock(mutex);
  parts.push_back(std::move(part));
}

/// Adds an instruction's counts to the totals.
static void addToTotals(Counters &counters, const CountedInstruction &counted) {
  const Kind kind = counted.profile.kind;
  counters.warpInstructions += counted.warps;
  counters.warpsOf[size_t(kind)] += counted.warps;
  counters.tensorFlops[size_t(counted.profile.tensorType)] += counted.profile.tensorFlops * counted.warps;
  if (counted.profile.isWarpGroup)
    counters.groupFlops[size_t(counted.profile.tensorType)] += counted.profile.tensorFlops * counted.warps;
  (counted.profile.isBulkStore ? counters.bulkStoreBytes : counters.bulkLoadBytes) += counted.bulkBytes;
  if (kind == Kind::Atomic || kind == Kind::AsyncCopy) {
    const Direction direction = kind == Kind::Atomic ? Direction::Atomic : Direction::Copy;
    counters.global[size_t(direction)].add(counted);
    counters.shared[size_t(direction)].add(counted);
  }
  const bool isLoad = kind == Kind::GlobalLoad || kind == Kind::SharedLoad;
  if (isLoad || kind == Kind::GlobalStore || kind == Kind::SharedStore) {
    counters.global[size_t(isLoad ? Direction::Load : Direction::Store)].add(counted);
    counters.shared[size_t(isLoad ? Direction::Load : Direction::Store)].add(counted);
  }
}

void LaunchCounts::finish(Counters &counters) {
  SectorSet read, written;
  counters.instructions.resize(code.instructions.size());
  for (const std::unique_ptr<PartialCounts> &part : parts) {
    for (size_t index = 0; index < part->instructions.size(); ++index)
      counters.instructions[index].add(part->instructions[index]);
    for (size_t direction = 0; direction < kNumDirections; ++direction)
      for (size_t width = 0; width < kNumWidths; ++width)
        counters.globalWidths[direction][width] += part->globalWidths[direction][width];
    counters.l2ReadSectors += part->l2ReadSectors;
    read.add(part->read);
    written.add(part->written);
  }
  counters.readSectors = read.count();
  counters.writtenSectors = written.count();
  for (size_t index = 0; index < code.instructions.size(); ++index) {
    CountedInstruction &counted = counters.instructions[index];
    counted.line = code.instructions[index].line;
    counted.profile = code.profiles[index];
    addToTotals(counters, counted);
  }
  std::erase_if(counters.instructions,
                [](const CountedInstruction &counted) { return counted.profile.kind == Kind::None; });
}
