// Divides the programs of a launch among threads.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/TimeEstimate.h"

#include "compiler/lowering/LaunchValues.h"
#include "compiler/target/cpu/ProgramWork.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static constexpr double kClockHz = 3e9;
/// Of a program beside its plan; of a launch, and of one that wakes other threads.
static constexpr double kProgramCycles = 8, kLaunchSeconds = 1e-6, kWakingSeconds = 5e-6;
/// Bytes a second of all cores together.
static constexpr double kMemoryBytes = 40e9;

/// The mean work of the launch's programs.
static ProgramWork meanWork(CpuKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                            const explain::LaunchShape &launch) {
  ProgramWork work;
  for (const double part : lowering::kSampledParts) {
    analysis::ScalarValues values =
        lowering::valuesAt(part, kernel.function, lowering::gridOf(launch), parameters, launch);
    work.add(WorkCounter(kernel, values, launch.memoryBytes).of(kernel.plan.body));
  }
  work = work.repeated(1.0 / std::size(lowering::kSampledParts));
  work.vectors += kProgramCycles;
  return work;
}

static const char *limitOf(const ProgramWork &work) {
  if (work.memory >= std::max(work.vectors, work.dots))
    return "memory";
  return work.dots > work.vectors ? "dots" : "vectors";
}

explain::Estimate cpu::estimateLaunch(CpuKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                      const explain::LaunchShape &launch) {
  const std::array<int64_t, 3> grid = lowering::gridOf(launch);
  const double programs = double(grid[0]) * double(grid[1]) * double(grid[2]);
  const double threads = std::min<double>(std::max(launch.multiprocessors, 1u), programs);
  const ProgramWork work = meanWork(kernel, parameters, launch);
  explain::Estimate estimate;
  estimate.residentCtas = 1;
  estimate.waves = programs / std::max(launch.multiprocessors, 1u);
  estimate.bytes = uint64_t(work.bytes * programs);
  estimate.cycles = uint64_t(work.cycles());
  estimate.limit = limitOf(work);
  // The cores end half a program apart, where there is another one to give away.
  const double ofCore = std::max(std::ceil(programs / threads), programs / threads + (threads > 1 ? 0.5 : 0));
  const double cores = ofCore * work.cycles() / kClockHz;
  const bool isCached = launch.memoryBytes <= kernel.vectors.cacheBytes;
  const double memory = isCached ? 0 : std::min(work.bytes * programs, double(launch.memoryBytes)) / kMemoryBytes;
  estimate.microseconds = 1e6 * (std::max(cores, memory) + (threads > 1 ? kWakingSeconds : kLaunchSeconds));
  return estimate;
}
