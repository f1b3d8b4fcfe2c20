// The resources and rates of launches on AMD's GPUs.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/TimeEstimate.h"

#include "compiler/analysis/RegisterPressure.h"
#include "compiler/lowering/gpu/LoopSchedule.h"
#include "compiler/lowering/gpu/TimeEstimate.h"
#include "compiler/target/amd/OpCost.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;

/// Registers of addresses, indices and partial results beside the tiles. Uniform ones are scalar.
static constexpr uint32_t kOtherRegisters = 16;
static constexpr uint32_t kRegisterGranule = 8;
static constexpr uint32_t kSimds = 4; ///< of a multiprocessor
static constexpr uint32_t kMaxResidentCtas = 32;

/// The registers that a lane may use: those of its SIMD, shared by the waves of a workgroup that run there.
static uint32_t registerLimit(const HipKernel &kernel) {
  const Arch &arch = kernel.arch;
  const uint32_t waves = llvm::divideCeil(kernel.threadsPerBlock() / arch.waveSize, kSimds);
  const uint32_t wanted = std::max(waves, kernel.options.wavesPerEu);
  return std::min(arch.numRegisters, arch.simdRegisters / wanted / kRegisterGranule * kRegisterGranule);
}

/// Workgroups that a multiprocessor has room for; their waves are spread over its SIMDs.
static uint32_t residentCtas(const HipKernel &kernel, uint32_t registers) {
  const Arch &arch = kernel.arch;
  const uint32_t granules = std::max(1u, llvm::divideCeil(registers, kRegisterGranule));
  const uint32_t ofSimd = std::min(arch.simdRegisters / (granules * kRegisterGranule), arch.simdWaves);
  const uint32_t byWaves = ofSimd * kSimds / std::max(1u, kernel.threadsPerBlock() / arch.waveSize);
  const uint64_t byShared = arch.unitSharedBytes / std::max<uint64_t>(kernel.shared.bytes, 1);
  return uint32_t(std::min<uint64_t>({byWaves, byShared, kMaxResidentCtas}));
}

static void setResources(const HipKernel &kernel, const OpCosts &costs, explain::Estimate &estimate) {
  const uint32_t needed = analysis::peakRegisters(kernel.function, &costs.axisInfo()) + kOtherRegisters;
  estimate.registers = std::min(needed, registerLimit(kernel));
  estimate.spilled = needed - estimate.registers;
  estimate.sharedBytes = kernel.shared.bytes;
  estimate.sharedLimit = kernel.arch.maxSharedBytes;
  estimate.residentCtas = residentCtas(kernel, estimate.registers);
}

/// The GPU that stands for an architecture; the first of its generation where none of its own is known.
static const artifact::AmdGpu &gpuOf(const Arch &arch) {
  if (const artifact::AmdGpu *gpu = artifact::findAmdGpu(arch.name))
    return *gpu;
  const std::string generation = llvm::StringRef(arch.name).drop_back(1).str();
  for (const artifact::AmdGpu &gpu : artifact::amdGpus())
    if (gpu.arch.starts_with(generation) || gpu.arch.starts_with(generation.substr(0, 5)))
      return gpu;
  return artifact::amdGpus().front();
}

static lowering::GpuRates ratesOf(const artifact::AmdGpu &gpu, const Arch &arch) {
  const double clock = gpu.clockMhz * 1e6;
  return {.multiprocessors = gpu.multiprocessors,
          .clockHz = clock,
          .tensorClockHz = clock * 0.8, // what power limits leave
          .dramBytes = gpu.dramBytes,
          .l2Bytes = double(arch.globalBytes) * gpu.multiprocessors * clock,
          .localBytes = 4.0 * arch.numBanks,
          .latencySeconds = gpu.latencySeconds,
          .launchSeconds = 6e-6};
}

explain::Estimate amd::estimateLaunch(const HipKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                      const explain::LaunchShape &launch) {
  explain::Estimate estimate;
  const OpCosts costs(kernel.module, kernel.arch);
  setResources(kernel, costs, estimate);
  if (!estimate.canLaunch())
    return estimate;
  lowering::estimateTime({.function = kernel.function,
                          .costs = costs,
                          .iterations = lowering::iterationCycles(kernel.module, costs, nullptr),
                          .rates = ratesOf(gpuOf(kernel.arch), kernel.arch),
                          .warps = double(kernel.threadsPerBlock()) / kernel.arch.waveSize,
                          .threads = double(kernel.threadsPerBlock()),
                          .isPersistent = false,
                          .parameters = parameters},
                         launch, estimate);
  return estimate;
}
