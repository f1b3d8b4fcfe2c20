// What a launch on the simulated GPU has done: counts per instruction, and their totals.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/ptx/Kinds.h"

#include <array>
#include <string>
#include <vector>

namespace nereid::sim {

/// Sums over all times that one PTX instruction was executed.
struct InstructionCounts {
  uint64_t warps = 0, lanes = 0;
  uint64_t globalRequests = 0, globalBytes = 0, globalSectors = 0; ///< bytes that lanes asked for
  uint64_t sharedRequests = 0, sharedBytes = 0, sharedWavefronts = 0, sharedConflicts = 0;
  uint64_t bulkBytes = 0; ///< of global memory, by bulk and tensor copies

  void add(const InstructionCounts &other);
};

/// Counts with what is needed to show them.
struct CountedInstruction : InstructionCounts {
  uint32_t line = 0; ///< of the PTX
  InstructionProfile profile;
};

enum class Direction : uint8_t { Load, Store, Atomic, Copy }; ///< Copy: cp.async
inline constexpr size_t kNumDirections = size_t(Direction::Copy) + 1;
/// Bytes per lane of requests: 1, 2, 4, 8, 16, 32.
inline constexpr size_t kNumWidths = 6;

struct Counters {
  uint64_t threadInstructions = 0;

  //--- the others only where a launch wants them ---------------------------------------------
  std::vector<CountedInstruction> instructions; ///< in the order of the code
  uint64_t warpInstructions = 0;
  std::array<uint64_t, kNumKinds> warpsOf{}; ///< warp instructions by kind
  std::array<InstructionCounts, kNumDirections> global{}, shared{};
  std::array<std::array<uint64_t, kNumWidths>, kNumDirections> globalWidths{}; ///< requests by width
  uint64_t bulkLoadBytes = 0, bulkStoreBytes = 0;
  uint64_t readSectors = 0, writtenSectors = 0; ///< without repetitions, of the whole launch
  uint64_t l2ReadSectors = 0;                   ///< without repetitions in a cluster, and those of bulk copies
  std::array<uint64_t, kNumTensorTypes> tensorFlops{}, groupFlops{}; ///< of all products, of wgmma alone

  double meanActiveLanes() const;
};

/// A figure by name, as Python, JSON and the table show it.
struct Figure {
  std::string name;
  double value = 0;
};
std::vector<Figure> figuresOf(const Counters &counters);

} // namespace nereid::sim
