// The tables of NVIDIA's generations and GPUs.
// SPDX-License-Identifier: MIT
#include "artifact/NvidiaGpus.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace nereid::artifact {

namespace {
/// Each has what those before it have, unless a comment says otherwise.
enum class Generation : uint8_t { Volta, Turing, Ampere100, Ampere, Ada, Hopper, Blackwell };
} // namespace

static constexpr NvidiaArch archOf(Generation generation, unsigned capability, const char *cpu, const char *portable,
                                   unsigned ptxVersion, uint32_t sharedKiB, uint32_t residentThreads,
                                   unsigned warpMmaProducts) {
  const auto since = [=](Generation first) { return generation >= first; };
  return {.capability = capability,
          .cpu = cpu,
          .portable = portable,
          .ptxVersion = ptxVersion,
          .hasToolchain = since(Generation::Turing),
          .hasWarpReduce = since(Generation::Ampere100),
          .hasBf16Conversion = since(Generation::Ampere100),
          .hasFp8Conversion = since(Generation::Ada),
          .hasXorSign = since(Generation::Ampere),
          .hasBf16Atomics = since(Generation::Hopper),
          .hasVectorAtomics = since(Generation::Hopper),
          .hasWarpMma = since(Generation::Ampere100),
          .hasAsyncCopy = since(Generation::Ampere100),
          .hasTma = since(Generation::Hopper),
          .makesTensorMaps = since(Generation::Hopper),
          .hasStmatrix = since(Generation::Hopper),
          .hasWgmma = generation == Generation::Hopper, // of 9.0 alone
          .hasClusters = since(Generation::Hopper),
          .hasDependentLaunches = since(Generation::Hopper),
          .maxSharedBytes = sharedKiB * 1024,
          .residentThreads = residentThreads,
          .fma = since(Generation::Ampere) ? 128u : 64u,
          .warpMmaProducts = warpMmaProducts};
}

// CUDA programming guide: shared memory and threads from "technical specifications per compute capability", fma from
// "Arithmetic Instructions". NVIDIA's whitepapers of V100, A100 and H100: products of tensor cores. Hopper runs
// mma.sync at the rate of A100.
static constexpr NvidiaArch kNvidiaArchs[] = {
    archOf(Generation::Volta, 70, "sm_70", "sm_70", 74, 96, 2048, 512),
    archOf(Generation::Turing, 75, "sm_75", "sm_75", 74, 64, 1024, 512),
    archOf(Generation::Ampere100, 80, "sm_80", "sm_80", 74, 163, 2048, 1024),
    archOf(Generation::Ampere, 86, "sm_86", "sm_86", 74, 99, 1536, 512),
    archOf(Generation::Ampere, 87, "sm_87", "sm_87", 74, 163, 1536, 512),
    archOf(Generation::Ada, 89, "sm_89", "sm_89", 81, 99, 1536, 512),
    archOf(Generation::Hopper, 90, "sm_90a", "sm_90", 80, 227, 2048, 1024),
    archOf(Generation::Blackwell, 100, "sm_100a", "sm_100", 86, 227, 2048, 1024),
    archOf(Generation::Blackwell, 103, "sm_103a", "sm_103", 88, 227, 2048, 1024),
    archOf(Generation::Blackwell, 110, "sm_110a", "sm_110", 90, 227, 2048, 1024),
    archOf(Generation::Blackwell, 120, "sm_120a", "sm_120", 87, 99, 1536, 1024),
    archOf(Generation::Blackwell, 121, "sm_121a", "sm_121", 88, 99, 1536, 1024),
};

std::span<const NvidiaArch> nvidiaArchs() { return kNvidiaArchs; }

const NvidiaArch *findNvidiaArch(unsigned capability) {
  const NvidiaArch *below = nullptr;
  for (const NvidiaArch &arch : kNvidiaArchs)
    if (arch.capability <= capability)
      below = &arch;
  return below;
}

// Data sheets, the throughput tables of the CUDA C++ Programming Guide, and measured bandwidths.
static constexpr NvidiaGpu kHopper = {
    .name = "H200",
    .capability = 90,
    .multiprocessors = 132,
    .ghz = 1.98,
    .tensorGhz = 1.55,
    .memoryMhz = 3201,
    .memoryBits = 6144,
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
    .latencySeconds = 0.7e-6,
};

static constexpr NvidiaGpu h100() {
  NvidiaGpu gpu = kHopper;
  gpu.name = "H100", gpu.tensorGhz = 1.5, gpu.memoryMhz = 2619, gpu.memoryBits = 5120;
  gpu.dramBytes = 3.0e12, gpu.l2LineBytes = 10.0e12, gpu.l2SectorBytes = 5.0e12;
  return gpu;
}

static constexpr NvidiaGpu kA100 = {
    .name = "A100",
    .capability = 80,
    .multiprocessors = 108,
    .ghz = 1.41,
    .tensorGhz = 1.35,
    .memoryMhz = 1215,
    .memoryBits = 5120,
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
    .latencySeconds = 0.6e-6,
};

static constexpr NvidiaGpu kNvidiaGpus[] = {kHopper, h100(), kA100};

std::span<const NvidiaGpu> nvidiaGpus() { return kNvidiaGpus; }

const NvidiaGpu *findNvidiaGpu(std::string_view name) {
  const auto isSame = [](char a, char b) { return std::tolower(uint8_t(a)) == std::tolower(uint8_t(b)); };
  for (const NvidiaGpu &gpu : kNvidiaGpus)
    if (std::equal(name.begin(), name.end(), gpu.name.begin(), gpu.name.end(), isSame))
      return &gpu;
  return nullptr;
}

const NvidiaGpu &nvidiaGpuOf(uint32_t capability) {
  for (const NvidiaGpu &gpu : kNvidiaGpus)
    if (gpu.capability <= capability)
      return gpu;
  return kNvidiaGpus[std::size(kNvidiaGpus) - 1];
}

} // namespace nereid::artifact
