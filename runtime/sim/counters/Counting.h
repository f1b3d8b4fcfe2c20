// The observer that counts, and the sums over the threads of the host.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/counters/Counters.h"
#include "runtime/sim/machine/Observer.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace nereid::sim {

/// A set of 32-byte sectors of global memory.
class SectorSet {
public:
  /// Whether the sector is new.
  bool add(uint64_t sector);
  void add(const SectorSet &other);
  uint64_t count() const;
  void clear();

private:
  static constexpr unsigned kSectorsPerPage = 128; ///< 4 KiB
  struct Page {
    uint64_t bits[kSectorsPerPage / 64] = {};
  };
  std::unordered_map<uint64_t, Page> pages;
  uint64_t lastNumber = ~uint64_t{0};
  Page *last = nullptr;
};

/// What some clusters have done, one after the other.
struct PartialCounts {
  std::vector<InstructionCounts> instructions;
  std::array<std::array<uint64_t, kNumWidths>, kNumDirections> globalWidths{};
  uint64_t l2ReadSectors = 0;
  SectorSet read, written, ofCluster;
};

/// The counts of a launch. Clusters that run at the same time get different parts.
class LaunchCounts {
public:
  explicit LaunchCounts(const Code &code) : code(code) {}
  std::unique_ptr<PartialCounts> take();
  void giveBack(std::unique_ptr<PartialCounts> part);
  /// After the last cluster.
  void finish(Counters &counters);

private:
  const Code &code;
  std::mutex mutex;
  std::vector<std::unique_ptr<PartialCounts>> parts;
};

/// Counts one cluster.
std::shared_ptr<Observer> makeCounter(LaunchCounts &counts);

} // namespace nereid::sim
