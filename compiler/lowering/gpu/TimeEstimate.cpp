// Follows the rounds of a launch's CTAs.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/TimeEstimate.h"

#include "compiler/lowering/LaunchValues.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// From the launch of a CTA to its first access to memory.
static constexpr double kStartCycles = 400;
/// Of each spilled register, for each iteration. Those of many threads do not fit L1.
static constexpr double kSpillAccesses = 4;

/// The time of things of which the longest hides most of the others: not quite all where two are equal.
template <typename Range> static double overlapped(const Range &times) {
  constexpr double kSharpness = 8;
  double sum = 0;
  for (const double time : times)
    sum += std::pow(time, kSharpness);
  return std::pow(sum, 1 / kSharpness);
}

namespace {
/// The grid as the launcher starts it: CTAs that stay share the programs.
struct LaunchedGrid {
  std::array<int64_t, 3> ctas;
  double numPrograms, numCtas;
};
} // namespace

static LaunchedGrid launchedGrid(const TimedKernel &kernel, const explain::LaunchShape &launch, int64_t residents) {
  const std::array<int64_t, 3> programs = gridOf(launch);
  const auto countOf = [](const std::array<int64_t, 3> &grid) { return double(grid[0]) * grid[1] * grid[2]; };
  LaunchedGrid grid{programs, countOf(programs), countOf(programs)};
  if (!kernel.isPersistent)
    return grid;
  grid.ctas = {std::min(int64_t(std::min(grid.numPrograms, 1e15)), residents), 1, 1};
  grid.numCtas = countOf(grid.ctas);
  return grid;
}

/// The mean work of the launch's CTAs.
static ProgramWork workOf(const TimedKernel &kernel, const LaunchedGrid &grid, const explain::LaunchShape &launch,
                          double spillCycles) {
  tt::FuncOp function = kernel.function;
  ProgramWork work;
  for (const double part : kSampledParts) {
    analysis::ScalarValues values = valuesAt(part, function, grid.ctas, kernel.parameters, launch);
    WorkCounter counter(kernel.costs, kernel.iterations, values, kernel.rates.latencySeconds * kernel.rates.clockHz,
                        spillCycles);
    for (Block &block : function.getBody())
      work.add(counter.of(block));
  }
  work = work.repeated(1.0 / std::size(kSampledParts));
  work.cycles += kStartCycles;
  if (!kernel.iterations.empty())
    return work;
  work.cycles += spillCycles;
  work.bytes += spillCycles * kernel.rates.localBytes;
  return work;
}

/// Cycles of the busiest multiprocessor. CTAs that stay have unequal numbers of programs where these do not divide.
static double roundsOf(const ProgramWork &work, const LaunchedGrid &grid, double resident, double multiprocessors) {
  const double busy = overlapped(work.busy);
  const auto round = [&](double count) { return overlapped(std::array{work.cycles, count * busy}); };
  const double full = std::floor(grid.numCtas / (resident * multiprocessors));
  const double left = std::ceil((grid.numCtas - full * resident * multiprocessors) / multiprocessors);
  const double ofEach = grid.numPrograms / grid.numCtas;
  return (full * round(resident) + (left > 0 ? round(left) : 0)) * std::ceil(ofEach) / ofEach;
}

/// What few warps on a multiprocessor leave unhidden of all latencies.
static double crowding(const TimedKernel &kernel, const explain::Estimate &estimate) {
  return 1 + 0.05 * std::exp(-double(estimate.residentCtas) * kernel.warps / 8);
}

static std::string limitOf(const ProgramWork &work, double resident, double rounds, double l2, double dram) {
  if (std::max(l2, dram) > rounds)
    return dram >= l2 ? "DRAM" : "L2";
  const auto busiest = std::max_element(work.busy.begin(), work.busy.end());
  if (work.cycles > resident * *busiest)
    return "latency";
  return explain::nameOf(explain::kUnits[busiest - work.busy.begin()]).str();
}

void lowering::estimateTime(const TimedKernel &kernel, const explain::LaunchShape &launch,
                            explain::Estimate &estimate) {
  const GpuRates &rates = kernel.rates;
  const int64_t multiprocessors = launch.multiprocessors ? launch.multiprocessors : rates.multiprocessors;
  const LaunchedGrid grid = launchedGrid(kernel, launch, multiprocessors * estimate.residentCtas);
  const double spillCycles = kSpillAccesses * 4 * estimate.spilled * kernel.threads / rates.localBytes;
  const ProgramWork work = workOf(kernel, grid, launch, spillCycles);
  const bool isTensor = work.busy.front() * 2 > overlapped(work.busy); // tensor cores are the first of kUnits
  const double clock = isTensor ? rates.tensorClockHz : rates.clockHz;
  const double rounds = roundsOf(work, grid, estimate.residentCtas, double(multiprocessors)) / clock;
  const double moved = work.bytes * grid.numCtas;
  const double distinct = launch.memoryBytes ? std::min<double>(moved, double(launch.memoryBytes)) : moved;
  const double l2 = moved / rates.l2Bytes, dram = distinct / rates.dramBytes;
  estimate.waves = grid.numCtas / double(estimate.residentCtas * multiprocessors);
  estimate.bytes = uint64_t(moved);
  estimate.cycles = uint64_t(work.cycles);
  estimate.limit = limitOf(work, estimate.residentCtas, rounds, l2, dram);
  estimate.microseconds =
      1e6 * (overlapped(std::array{rounds, l2, dram}) * crowding(kernel, estimate) + rates.launchSeconds);
}
