// The resources and rates of launches on NVIDIA's GPUs.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/TimeEstimate.h"

#include "compiler/analysis/RegisterPressure.h"
#include "compiler/lowering/gpu/TimeEstimate.h"
#include "compiler/target/nvidia/Explain.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// Registers of addresses, indices and partial results beside the tiles.
static constexpr uint32_t kOtherRegisters = 24;
static constexpr uint32_t kMaxThreadRegisters = 255;
/// ptxas mostly fits so many more into a thread's registers, by 217 variants of public kernels.
static constexpr uint32_t kAvoidedSpills = 80;
/// The part of the memory's peak that copies reach.
static constexpr double kReachedPeak = 0.89;

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

static lowering::GpuRates ratesOf(const artifact::NvidiaGpu &gpu, const explain::LaunchShape &launch) {
  return {.multiprocessors = gpu.multiprocessors,
          .clockHz = gpu.clockMhz * 1e6,
          .tensorClockHz = gpu.tensorClockMhz * 1e6,
          .dramBytes = launch.memoryPeak > 0 ? kReachedPeak * launch.memoryPeak : gpu.dramBytes,
          .l2Bytes = gpu.l2LineBytes,
          .localBytes = 128,
          .latencySeconds = gpu.latencySeconds,
          .launchSeconds = gpu.launchSeconds};
}

explain::Estimate nvidia::estimateLaunch(const CudaKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                         const explain::LaunchShape &launch) {
  explain::Estimate estimate;
  const OpCosts costs(kernel.module, kernel.arch);
  setResources(kernel, costs, estimate);
  if (!estimate.canLaunch())
    return estimate;
  tt::FuncOp function = kernel.function;
  lowering::estimateTime({.function = function,
                          .costs = costs,
                          .iterations = iterationCycles(kernel, costs),
                          .rates = ratesOf(artifact::nvidiaGpuOf(kernel.arch.capability), launch),
                          .warps = kernel.threadsPerBlock() / 32.0,
                          .threads = double(kernel.threadsPerBlock()),
                          .isPersistent = function->hasAttr(ttng::kPersistent),
                          .parameters = parameters},
                         launch, estimate);
  return estimate;
}
