// The time of a kernel on a GPU by its counters: that of the busiest resource, and fixed latencies.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/Estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace nereid;
using namespace nereid::sim;

static uint64_t ceilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

//--- occupancy -----------------------------------------------------------------------------

Occupancy nereid::sim::occupancyOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu) {
  const uint64_t warps = std::max<uint64_t>(ceilDiv(profile.block.count(), 32), 1);
  const artifact::ResidentCtas fitting =
      residentCtas(archOf(gpu), {profile.registers, profile.block.count(), profile.sharedBytes});
  const std::pair<uint32_t, const char *> limits[] = {{fitting.byThreads, "warps"},
                                                      {artifact::kMaxResidentCtas, "CTAs"},
                                                      {fitting.byRegisters, "registers"},
                                                      {fitting.bySharedBytes, "shared memory"}};
  const auto lowest = std::min_element(std::begin(limits), std::end(limits));
  Occupancy occupancy;
  occupancy.ctas = lowest->first;
  occupancy.warps = uint32_t(lowest->first * warps);
  occupancy.limit = lowest->second;
  if (occupancy.ctas)
    occupancy.waves = double(profile.grid.count()) / (double(occupancy.ctas) * gpu.multiprocessors);
  return occupancy;
}

//--- resources -----------------------------------------------------------------------------

namespace {
/// Clocks of one SM that the whole grid would take.
struct Clocks {
  double issue = 0, float32 = 0, float16 = 0, float64 = 0, integer = 0, special = 0, convert = 0, l1 = 0, tensor = 0;
};
} // namespace

/// Moves and loads of parameters vanish when PTX is assembled.
static bool isIssued(size_t kind) {
  return Kind(kind) != Kind::None && Kind(kind) != Kind::Move && Kind(kind) != Kind::ParamLoad;
}

static Clocks clocksOf(const Counters &counters, const artifact::NvidiaGpu &gpu) {
  const artifact::NvidiaArch &arch = archOf(gpu);
  Clocks clocks;
  for (size_t kind = 0; kind < kNumKinds; ++kind)
    clocks.issue += isIssued(kind) ? double(counters.warpsOf[kind]) / gpu.warpIssues : 0;
  const auto pipe = [&](Kind kind, double lanes) { return double(counters.warpsOf[size_t(kind)]) * 32 / lanes; };
  clocks.float32 = pipe(Kind::Float32, arch.fma);
  clocks.float16 = pipe(Kind::Float16, arch.packedFma);
  clocks.float64 = pipe(Kind::Float64, gpu.float64Lanes);
  clocks.integer = pipe(Kind::Integer, gpu.integerLanes);
  clocks.special = pipe(Kind::Special, arch.special);
  clocks.convert = pipe(Kind::Convert, gpu.convertLanes);
  for (size_t direction = 0; direction < kNumDirections; ++direction)
    clocks.l1 += double(counters.shared[direction].sharedWavefronts) +
                 std::max(double(counters.global[direction].globalRequests),
                          double(counters.global[direction].globalSectors) * 32 / gpu.l1Bytes);
  clocks.l1 += double(counters.bulkLoadBytes + counters.bulkStoreBytes) / gpu.l1Bytes;
  clocks.l1 += pipe(Kind::Shuffle, 32);
  for (size_t type = 1; type < kNumTensorTypes; ++type) {
    const double rate = gpu.tensorFlops[type] ? gpu.tensorFlops[type] : gpu.tensorFlops[size_t(TensorType::F16)];
    const double group = double(counters.groupFlops[type]);
    clocks.tensor += (group + (double(counters.tensorFlops[type]) - group) / gpu.mmaShare) / rate;
  }
  return clocks;
}

/// Sectors of which lanes want only a part come one by one, the others as lines.
static double l2TimeOf(const Counters &counters, const artifact::NvidiaGpu &gpu) {
  double sectors = double(counters.l2ReadSectors) + double(counters.bulkStoreBytes) / 32, single = 0;
  sectors += double(counters.global[size_t(Direction::Store)].globalSectors);
  for (const Direction direction : {Direction::Load, Direction::Store}) {
    const InstructionCounts &counts = counters.global[size_t(direction)];
    single += std::max(double(counts.globalSectors) - double(counts.globalBytes) / 32, 0.0);
  }
  single = std::min(single, sectors);
  return single * 32 / gpu.l2SectorBytes + (sectors - single) * 32 / gpu.l2LineBytes;
}

/// The time of one warp after the other on the busiest SM: in each round an SM runs as many CTAs as fit at once, and a
/// warp waits for its loads, of which some are in flight at once, for the results of its instructions, and for the
/// tensor cores.
static double latencyOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu, uint64_t ctasOfSm,
                        double tensorClocks) {
  constexpr double kLoadsInFlight = 8, kClocksPerInstruction = 2;
  const Counters &counters = profile.counters;
  const uint64_t warps = profile.grid.count() * ceilDiv(profile.block.count(), 32);
  const uint64_t resident = std::max<uint64_t>(occupancyOf(profile, gpu).ctas, 1);
  double issued = 0;
  for (size_t kind = 0; kind < kNumKinds; ++kind)
    issued += isIssued(kind) ? double(counters.warpsOf[kind]) : 0;
  const double loads = double(counters.global[size_t(Direction::Load)].globalRequests) / double(warps);
  const double ofWarp = std::ceil(loads / kLoadsInFlight) * gpu.latencySeconds +
                        issued / double(warps) * kClocksPerInstruction / (gpu.clockMhz * 1e6) +
                        tensorClocks / double(profile.grid.count()) / (gpu.tensorClockMhz * 1e6);
  return double(ceilDiv(ctasOfSm, resident)) * ofWarp;
}

Estimate nereid::sim::estimateOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu) {
  const Counters &counters = profile.counters;
  Estimate estimate;
  // The busiest SM runs this share of the CTAs.
  const uint64_t ctas = std::max<uint64_t>(profile.grid.count(), 1);
  const uint64_t ctasOfSm = ceilDiv(ctas, gpu.multiprocessors);
  const double share = double(ctasOfSm) / double(ctas);
  const Clocks clocks = clocksOf(counters, gpu);
  const auto add = [&](const char *name, double onOneSm, uint32_t clockMhz) {
    estimate.resources.push_back({name, onOneSm * share / (clockMhz * 1e6)});
  };
  add("instruction issue", clocks.issue, gpu.clockMhz);
  add("float32 pipe", clocks.float32, gpu.clockMhz);
  add("float16 pipe", clocks.float16, gpu.clockMhz);
  add("float64 pipe", clocks.float64, gpu.clockMhz);
  add("integer pipe", clocks.integer, gpu.clockMhz);
  add("special functions", clocks.special, gpu.clockMhz);
  add("conversions", clocks.convert, gpu.clockMhz);
  add("L1 and shared memory", clocks.l1, gpu.clockMhz);
  add("tensor cores", clocks.tensor, gpu.tensorClockMhz);
  estimate.resources.push_back({"L2", l2TimeOf(counters, gpu)});
  const InstructionCounts &atomics = counters.global[size_t(Direction::Atomic)];
  estimate.resources.push_back({"atomics in L2", double(atomics.globalSectors) / gpu.atomicSectors});
  estimate.resources.push_back({"latency", latencyOf(profile, gpu, ctasOfSm, clocks.tensor)});
  const uint64_t touched = (counters.readSectors + counters.writtenSectors) * 32;
  // A benchmark launches a kernel again and again; data that fit stay in L2.
  estimate.isInL2 = touched <= gpu.l2Capacity * 7 / 10;
  estimate.resources.push_back({"DRAM", estimate.isInL2 ? 0 : double(touched) / gpu.dramBytes});
  std::stable_sort(estimate.resources.begin(), estimate.resources.end(),
                   [](const Resource &a, const Resource &b) { return a.seconds > b.seconds; });
  estimate.seconds = estimate.resources[0].seconds + gpu.launchSeconds + gpu.latencySeconds;
  return estimate;
}

std::string nereid::sim::unknownGpu(std::string_view name) {
  std::string text = "there is no table of rates for the GPU `" + std::string(name) + "`; there are ", separator;
  for (const artifact::NvidiaGpu &gpu : artifact::nvidiaGpus())
    text += std::exchange(separator, ", ") + std::string(gpu.name);
  return text;
}
