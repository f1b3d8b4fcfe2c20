// Totals of counters under the names by which users know them.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/Counters.h"

using namespace nereid::sim;

void InstructionCounts::add(const InstructionCounts &other) {
  warps += other.warps;
  lanes += other.lanes;
  globalRequests += other.globalRequests;
  globalBytes += other.globalBytes;
  globalSectors += other.globalSectors;
  sharedRequests += other.sharedRequests;
  sharedBytes += other.sharedBytes;
  sharedWavefronts += other.sharedWavefronts;
  sharedConflicts += other.sharedConflicts;
  bulkBytes += other.bulkBytes;
}

double Counters::meanActiveLanes() const {
  uint64_t lanes = 0, warps = 0;
  for (const CountedInstruction &counted : instructions)
    lanes += counted.lanes, warps += counted.warps;
  return warps ? double(lanes) / double(warps) : 0;
}

static void addGlobal(std::vector<Figure> &figures, const std::string &prefix, const Counters &counters,
                      Direction direction) {
  const InstructionCounts &counts = counters.global[size_t(direction)];
  figures.push_back({prefix + "_requests", double(counts.globalRequests)});
  figures.push_back({prefix + "_bytes", double(counts.globalBytes)});
  figures.push_back({prefix + "_sectors", double(counts.globalSectors)});
  for (size_t width = 0; width < kNumWidths; ++width)
    figures.push_back({prefix + "_requests_of_" + std::to_string(1u << width) + "_bytes",
                       double(counters.globalWidths[size_t(direction)][width])});
}

static void addShared(std::vector<Figure> &figures, const std::string &prefix, const InstructionCounts &counts) {
  figures.push_back({prefix + "_requests", double(counts.sharedRequests)});
  figures.push_back({prefix + "_bytes", double(counts.sharedBytes)});
  figures.push_back({prefix + "_wavefronts", double(counts.sharedWavefronts)});
  figures.push_back({prefix + "_bank_conflicts", double(counts.sharedConflicts)});
}

std::vector<Figure> nereid::sim::figuresOf(const Counters &counters) {
  std::vector<Figure> figures = {{"thread_instructions", double(counters.threadInstructions)},
                                 {"warp_instructions", double(counters.warpInstructions)},
                                 {"mean_active_lanes", counters.meanActiveLanes()}};
  for (size_t kind = 1; kind < kNumKinds; ++kind)
    figures.push_back({std::string(nameOf(Kind(kind))) + "_instructions", double(counters.warpsOf[kind])});
  static constexpr const char *directions[] = {"load", "store", "atomic", "copy"};
  for (size_t index = 0; index < kNumDirections; ++index) {
    addGlobal(figures, std::string("global_") + directions[index], counters, Direction(index));
    addShared(figures, std::string("shared_") + directions[index], counters.shared[index]);
  }
  uint64_t conflicts = 0;
  for (const InstructionCounts &counts : counters.shared)
    conflicts += counts.sharedConflicts;
  figures.push_back({"bank_conflicts", double(conflicts)});
  figures.push_back({"bulk_load_bytes", double(counters.bulkLoadBytes)});
  figures.push_back({"bulk_store_bytes", double(counters.bulkStoreBytes)});
  figures.push_back({"l2_read_bytes", double(counters.l2ReadSectors) * 32});
  figures.push_back({"dram_read_bytes", double(counters.readSectors) * 32});
  figures.push_back({"dram_write_bytes", double(counters.writtenSectors) * 32});
  for (size_t type = 1; type < kNumTensorTypes; ++type)
    figures.push_back({std::string("tensor_flops_") + nameOf(TensorType(type)), double(counters.tensorFlops[type])});
  return figures;
}
