// Combines the work of programs with occupancy, waves and the GPU's rates.
// SPDX-License-Identifier: MIT
//
// A multiprocessor runs rounds of as many CTAs as fit at once. A round takes as long as one program alone, or as the
// unit that all of them keep busy most, whichever is longer; the whole launch as long as its rounds, or as the traffic
// with L2 or DRAM.
#include "compiler/target/nvidia/TimeEstimate.h"

#include "compiler/analysis/RegisterPressure.h"
#include "compiler/target/nvidia/Explain.h"
#include "compiler/target/nvidia/ProgramWork.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using explain::Unit;

/// Registers of addresses, indices and partial results beside the tiles.
static constexpr uint32_t kOtherRegisters = 24;
static constexpr uint32_t kMaxThreadRegisters = 255;
/// ptxas mostly fits so many more into a thread's registers, by 217 variants of public kernels.
static constexpr uint32_t kAvoidedSpills = 80;
/// From the launch of a CTA to its first access to memory.
static constexpr double kStartCycles = 400;
/// Bytes of L1 and shared memory that a multiprocessor moves in a cycle.
static constexpr double kLocalBytes = 128;
/// Of each spilled register, for each iteration. Those of many threads do not fit L1.
static constexpr double kSpillAccesses = 4;
/// The part of the memory's peak that copies reach.
static constexpr double kReachedPeak = 0.89;
/// Programs at these parts of the grid stand for all.
static constexpr double kSamples[] = {0.1, 0.3, 0.5, 0.7, 0.9};

/// The time of things of which the longest hides most of the others: not quite all where two are equal.
template <typename Range> static double overlapped(const Range &times) {
  constexpr double kSharpness = 8;
  double sum = 0;
  for (const double time : times)
    sum += std::pow(time, kSharpness);
  return std::pow(sum, 1 / kSharpness);
}

static uint32_t registerLimit(const CudaKernel &kernel) {
  const uint32_t fitting = artifact::kRegisterFile / kernel.threadsPerBlock();
  const uint32_t limit =
      std::min(fitting / artifact::kRegisterGranule * artifact::kRegisterGranule, kMaxThreadRegisters);
  return kernel.options.maxRegisters ? std::min<uint32_t>(limit, kernel.options.maxRegisters) : limit;
}

/// Those that a thread may use: warps that only load leave theirs to the others.
static uint32_t usableRegisters(const CudaKernel &kernel) {
  uint32_t most = registerLimit(kernel);
  tt::FuncOp function = kernel.function;
  function.walk([&](ttg::WarpSpecializeOp op) {
    if (auto registers = op.getActualRegisters())
      most = std::max<uint32_t>(most, std::min<uint32_t>(registers->front(), kMaxThreadRegisters));
  });
  return most;
}

/// Sets the resources of a CTA, and how many of them fit a multiprocessor.
static void setResources(const CudaKernel &kernel, const OpCosts &costs, explain::Estimate &estimate) {
  const uint32_t needed = analysis::peakRegisters(kernel.function, &costs.axisInfo()) + kOtherRegisters;
  estimate.registers = std::min(needed, registerLimit(kernel));
  estimate.spilled = needed - std::min(needed, usableRegisters(kernel) + kAvoidedSpills);
  estimate.sharedBytes = kernel.shared.bytes;
  estimate.sharedLimit = kernel.arch.maxSharedBytes;
  const artifact::ResidentCtas fitting =
      residentCtas(kernel.arch, {estimate.registers, kernel.threadsPerBlock(), estimate.sharedBytes});
  estimate.residentCtas = std::min(fitting.count(), artifact::kMaxResidentCtas);
}

namespace {
/// The grid as the launcher starts it: CTAs that stay share the programs.
struct Launched {
  std::array<int64_t, 3> programs, ctas;
  int64_t numPrograms, numCtas;
};
} // namespace

static Launched launchedGrid(const CudaKernel &kernel, const explain::LaunchShape &launch, int64_t residents) {
  Launched grid;
  llvm::transform(launch.grid, grid.programs.begin(), [](uint64_t n) { return int64_t(std::max<uint64_t>(n, 1)); });
  grid.numPrograms = grid.programs[0] * grid.programs[1] * grid.programs[2];
  tt::FuncOp function = kernel.function;
  grid.ctas = function->hasAttr(ttng::kPersistent) ? std::array<int64_t, 3>{std::min(grid.numPrograms, residents), 1, 1}
                                                   : grid.programs;
  grid.numCtas = grid.ctas[0] * grid.ctas[1] * grid.ctas[2];
  return grid;
}

static analysis::ScalarValues valuesAt(double part, const CudaKernel &kernel, const Launched &grid,
                                       const std::vector<artifact::Parameter> &parameters,
                                       const explain::LaunchShape &launch) {
  std::array<int64_t, 3> program{};
  for (auto [index, extent] : llvm::zip_equal(program, grid.ctas))
    index = std::min<int64_t>(int64_t(double(extent) * part), extent - 1);
  analysis::ScalarValues values(program, grid.ctas);
  tt::FuncOp function = kernel.function;
  for (auto [argument, parameter] : llvm::zip(function.getArguments(), parameters))
    if (parameter.position < launch.scalars.size() && launch.scalars[parameter.position])
      values.set(argument, *launch.scalars[parameter.position]);
  // The launcher's own parameters follow; integers among them are the extents of a grid whose CTAs stay.
  unsigned dim = 0;
  for (BlockArgument argument :
       function.getArguments().drop_front(std::min<size_t>(parameters.size(), function.getNumArguments())))
    if (argument.getType().isInteger(32) && dim < 3)
      values.set(argument, grid.programs[dim++]);
  return values;
}

/// The mean work of the launch's CTAs.
static ProgramWork workOf(const CudaKernel &kernel, const OpCosts &costs, const Launched &grid,
                          const std::vector<artifact::Parameter> &parameters, const explain::LaunchShape &launch,
                          double latency, double spillCycles) {
  const IterationCycles iterations = iterationCycles(kernel, costs);
  tt::FuncOp function = kernel.function;
  ProgramWork work;
  for (const double part : kSamples) {
    analysis::ScalarValues values = valuesAt(part, kernel, grid, parameters, launch);
    WorkCounter counter(costs, iterations, values, latency, spillCycles);
    for (Block &block : function.getBody())
      work.add(counter.of(block));
  }
  work = work.repeated(1.0 / std::size(kSamples));
  work.cycles += kStartCycles + (iterations.empty() ? spillCycles : 0);
  if (iterations.empty())
    work.bytes += spillCycles * kLocalBytes;
  return work;
}

/// Cycles of the busiest multiprocessor. CTAs that stay have unequal numbers of programs where these do not divide.
static double roundsOf(const ProgramWork &work, const Launched &grid, double resident, double multiprocessors) {
  const double busy = overlapped(work.busy), ctas = double(grid.numCtas);
  const auto round = [&](double count) { return overlapped(std::array{work.cycles, count * busy}); };
  const double full = std::floor(ctas / (resident * multiprocessors));
  const double left = std::ceil((ctas - full * resident * multiprocessors) / multiprocessors);
  const double ofEach = double(grid.numPrograms) / ctas;
  return (full * round(resident) + (left > 0 ? round(left) : 0)) * std::ceil(ofEach) / ofEach;
}

/// What few warps on a multiprocessor leave unhidden of all latencies.
static double crowding(const CudaKernel &kernel, const explain::Estimate &estimate) {
  const double warps = double(estimate.residentCtas) * kernel.threadsPerBlock() / 32;
  return 1 + 0.05 * std::exp(-warps / 8);
}

static std::string limitOf(const ProgramWork &work, double resident, double rounds, double l2, double dram) {
  if (std::max(l2, dram) > rounds)
    return dram >= l2 ? "DRAM" : "L2";
  const auto busiest = std::max_element(work.busy.begin(), work.busy.end());
  if (work.cycles > resident * *busiest)
    return "latency";
  return explain::nameOf(explain::kUnits[busiest - work.busy.begin()]).str();
}

explain::Estimate nvidia::estimateLaunch(const CudaKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                         const explain::LaunchShape &launch) {
  explain::Estimate estimate;
  const OpCosts costs(kernel.module, kernel.arch);
  setResources(kernel, costs, estimate);
  if (!estimate.canLaunch())
    return estimate;
  const artifact::NvidiaGpu &gpu = artifact::nvidiaGpuOf(kernel.arch.capability);
  const int64_t multiprocessors = launch.multiprocessors ? launch.multiprocessors : gpu.multiprocessors;
  const Launched grid = launchedGrid(kernel, launch, multiprocessors * estimate.residentCtas);
  const double spillCycles = kSpillAccesses * 4 * estimate.spilled * kernel.threadsPerBlock() / kLocalBytes;
  const ProgramWork work =
      workOf(kernel, costs, grid, parameters, launch, gpu.latencySeconds * gpu.clockMhz * 1e6, spillCycles);
  const bool isTensor = work.busy.front() * 2 > overlapped(work.busy); // tensor cores are the first of kUnits
  const double clock = (isTensor ? gpu.tensorClockMhz : gpu.clockMhz) * 1e6;
  const double rounds = roundsOf(work, grid, estimate.residentCtas, double(multiprocessors)) / clock;
  const double moved = work.bytes * double(grid.numCtas);
  const double distinct = launch.memoryBytes ? std::min<double>(moved, double(launch.memoryBytes)) : moved;
  const double dramRate = launch.memoryPeak > 0 ? kReachedPeak * launch.memoryPeak : gpu.dramBytes;
  const double l2 = moved / gpu.l2LineBytes, dram = distinct / dramRate;
  estimate.waves = double(grid.numCtas) / double(estimate.residentCtas * multiprocessors);
  estimate.bytes = uint64_t(moved);
  estimate.cycles = uint64_t(work.cycles);
  estimate.limit = limitOf(work, estimate.residentCtas, rounds, l2, dram);
  estimate.microseconds =
      1e6 * (overlapped(std::array{rounds, l2, dram}) * crowding(kernel, estimate) + gpu.launchSeconds);
  return estimate;
}
