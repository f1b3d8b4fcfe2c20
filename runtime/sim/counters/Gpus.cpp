// The table of GPUs: data sheets, the throughput tables of the CUDA C++ Programming Guide, and measured bandwidths.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/Gpus.h"

#include <algorithm>
#include <cctype>
#include <utility>

using namespace nereid::sim;

// Flops by type: none, f64, tf32, f16, f8, int8, int4.
static constexpr GpuRates kGpus[] = {
    {.name = "H200",
     .capability = 90,
     .multiprocessors = 132,
     .ghz = 1.98,
     .tensorGhz = 1.55,
     .dramBytes = 4.35e12,
     .l2LineBytes = 10.4e12,
     .l2SectorBytes = 5.2e12,
     .atomicSectors = 33e9,
     .l2Capacity = 50u << 20,
     .warpIssues = 4,
     .float32Lanes = 128,
     .float16Lanes = 128,
     .float64Lanes = 64,
     .integerLanes = 64,
     .specialLanes = 16,
     .convertLanes = 64,
     .l1Bytes = 128,
     .tensorFlops = {0, 256, 2048, 4096, 8192, 8192, 0},
     .mmaShare = 0.62,
     .registers = 65536,
     .sharedBytes = 233472,
     .warps = 64,
     .ctas = 32,
     .reservedSharedBytes = 1024,
     .launchSeconds = 2.2e-6,
     .latencySeconds = 0.7e-6},
    {.name = "H100",
     .capability = 90,
     .multiprocessors = 132,
     .ghz = 1.98,
     .tensorGhz = 1.5,
     .dramBytes = 3.0e12,
     .l2LineBytes = 10.0e12,
     .l2SectorBytes = 5.0e12,
     .atomicSectors = 33e9,
     .l2Capacity = 50u << 20,
     .warpIssues = 4,
     .float32Lanes = 128,
     .float16Lanes = 128,
     .float64Lanes = 64,
     .integerLanes = 64,
     .specialLanes = 16,
     .convertLanes = 64,
     .l1Bytes = 128,
     .tensorFlops = {0, 256, 2048, 4096, 8192, 8192, 0},
     .mmaShare = 0.62,
     .registers = 65536,
     .sharedBytes = 233472,
     .warps = 64,
     .ctas = 32,
     .reservedSharedBytes = 1024,
     .launchSeconds = 2.2e-6,
     .latencySeconds = 0.7e-6},
    {.name = "A100",
     .capability = 80,
     .multiprocessors = 108,
     .ghz = 1.41,
     .tensorGhz = 1.35,
     .dramBytes = 1.75e12,
     .l2LineBytes = 6.0e12,
     .l2SectorBytes = 3.0e12,
     .atomicSectors = 25e9,
     .l2Capacity = 40u << 20,
     .warpIssues = 4,
     .float32Lanes = 64,
     .float16Lanes = 128,
     .float64Lanes = 32,
     .integerLanes = 64,
     .specialLanes = 16,
     .convertLanes = 64,
     .l1Bytes = 128,
     .tensorFlops = {0, 128, 1024, 2048, 0, 4096, 8192},
     .mmaShare = 1,
     .registers = 65536,
     .sharedBytes = 167936,
     .warps = 64,
     .ctas = 32,
     .reservedSharedBytes = 1024,
     .launchSeconds = 2.5e-6,
     .latencySeconds = 0.6e-6},
};

std::span<const GpuRates> nereid::sim::knownGpus() { return kGpus; }

const GpuRates *nereid::sim::findGpu(std::string_view name) {
  const auto isSame = [](char a, char b) { return std::tolower(uint8_t(a)) == std::tolower(uint8_t(b)); };
  for (const GpuRates &gpu : kGpus)
    if (std::equal(name.begin(), name.end(), gpu.name.begin(), gpu.name.end(), isSame))
      return &gpu;
  return nullptr;
}

std::string nereid::sim::unknownGpu(std::string_view name) {
  std::string text = "there is no table of rates for the GPU `" + std::string(name) + "`; there are ", separator;
  for (const GpuRates &gpu : kGpus)
    text += std::exchange(separator, ", ") + std::string(gpu.name);
  return text;
}

const GpuRates &nereid::sim::gpuOfCapability(uint32_t capability) {
  for (const GpuRates &gpu : kGpus)
    if (gpu.capability <= capability)
      return gpu;
  return kGpus[std::size(kGpus) - 1];
}
