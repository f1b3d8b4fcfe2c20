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

static constexpr NvidiaArch rowOf(Generation generation, unsigned capability, const char *cpu, const char *portable,
                                  unsigned ptxVersion, uint32_t sharedKiB, uint32_t residentThreads, unsigned packedFma,
                                  unsigned warpMmaProducts, unsigned tensorProducts) {
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
          .hasOwnPtxas = since(Generation::Blackwell),
          .maxSharedBytes = sharedKiB * 1024,
          .residentThreads = residentThreads,
          .fma = since(Generation::Ampere) ? 128u : 64u,
          .packedFma = packedFma,
          .special = 16,
          .warpMmaProducts = warpMmaProducts,
          .tensorProducts = tensorProducts,
          .globalBytes = 48}; // L2 of A100: 5120 bytes per cycle for 108 multiprocessors
}

// CUDA programming guide: shared memory and threads from "technical specifications per compute capability", fma,
// pairs and special functions from "Arithmetic Instructions". NVIDIA's whitepapers of V100, A100 and H100: products of
// tensor cores. Hopper runs mma.sync at the rate of A100.
static constexpr NvidiaArch kNvidiaArchs[] = {
    rowOf(Generation::Volta, 70, "sm_70", "sm_70", 74, 96, 2048, 0, 512, 0),
    rowOf(Generation::Turing, 75, "sm_75", "sm_75", 74, 64, 1024, 0, 512, 0),
    rowOf(Generation::Ampere100, 80, "sm_80", "sm_80", 74, 163, 2048, 128, 1024, 1024),
    rowOf(Generation::Ampere, 86, "sm_86", "sm_86", 74, 99, 1536, 64, 512, 512),
    rowOf(Generation::Ampere, 87, "sm_87", "sm_87", 74, 163, 1536, 0, 512, 0),
    rowOf(Generation::Ada, 89, "sm_89", "sm_89", 81, 99, 1536, 64, 512, 512),
    rowOf(Generation::Hopper, 90, "sm_90a", "sm_90", 80, 227, 2048, 128, 1024, 2048),
    rowOf(Generation::Blackwell, 100, "sm_100a", "sm_100", 86, 227, 2048, 128, 1024, 4096),
    rowOf(Generation::Blackwell, 103, "sm_103a", "sm_103", 88, 227, 2048, 0, 1024, 0),
    rowOf(Generation::Blackwell, 110, "sm_110a", "sm_110", 90, 227, 2048, 0, 1024, 0),
    rowOf(Generation::Blackwell, 120, "sm_120a", "sm_120", 87, 99, 1536, 0, 1024, 0),
    rowOf(Generation::Blackwell, 121, "sm_121a", "sm_121", 88, 99, 1536, 0, 1024, 0),
};

std::span<const NvidiaArch> nvidiaArchs() { return kNvidiaArchs; }

const NvidiaArch *findNvidiaArch(unsigned capability) {
  const NvidiaArch *below = nullptr;
  for (const NvidiaArch &arch : kNvidiaArchs)
    if (arch.capability <= capability)
      below = &arch;
  return below;
}

//--- occupancy -------------------------------------------------------------------------------

uint32_t ResidentCtas::count() const { return std::min({byThreads, byRegisters, bySharedBytes}); }

ResidentCtas residentCtas(const MultiprocessorLimits &limits, const CtaFootprint &block) {
  constexpr uint64_t kWarpThreads = 32;
  const auto roundedUp = [](uint64_t a, uint64_t unit) { return std::max<uint64_t>((a + unit - 1) / unit, 1) * unit; };
  const uint64_t threads = roundedUp(block.threads, kWarpThreads);
  const uint64_t ofCta = roundedUp(block.registers, kRegisterGranule) * threads;
  const uint64_t sharedBytes = block.sharedBytes + kReservedSharedBytes;
  return {.byThreads = uint32_t(limits.residentThreads / threads),
          .byRegisters = uint32_t(kRegisterFile / ofCta),
          .bySharedBytes = uint32_t((limits.maxSharedBytes + kReservedSharedBytes) / sharedBytes)};
}

//--- GPUs ------------------------------------------------------------------------------------

// Data sheets, the throughput tables of the CUDA C++ Programming Guide, and measured bandwidths.
static constexpr NvidiaGpu kHopper = {
    .name = "H200",
    .capability = 90,
    .multiprocessors = 132,
    .clockMhz = 1980,
    .tensorClockMhz = 1550,
    .memoryMhz = 3201,
    .memoryBits = 6144,
    .dramBytes = 4.35e12,
    .l2LineBytes = 10.4e12,
    .l2SectorBytes = 5.2e12,
    .atomicSectors = 33e9,
    .l2Capacity = 50u << 20,
    .warpIssues = 4,
    .float64Lanes = 64,
    .integerLanes = 64,
    .convertLanes = 64,
    .l1Bytes = 128,
    .tensorFlops = {0, 256, 2048, 4096, 8192, 8192, 0},
    .mmaShare = 0.62,
    .launchSeconds = 2.2e-6,
    .latencySeconds = 0.7e-6,
};

static constexpr NvidiaGpu h100() {
  NvidiaGpu gpu = kHopper;
  gpu.name = "H100", gpu.tensorClockMhz = 1500, gpu.memoryMhz = 2619, gpu.memoryBits = 5120;
  gpu.dramBytes = 3.0e12, gpu.l2LineBytes = 10.0e12, gpu.l2SectorBytes = 5.0e12;
  return gpu;
}

static constexpr NvidiaGpu kA100 = {
    .name = "A100",
    .capability = 80,
    .multiprocessors = 108,
    .clockMhz = 1410,
    .tensorClockMhz = 1350,
    .memoryMhz = 1215,
    .memoryBits = 5120,
    .dramBytes = 1.75e12,
    .l2LineBytes = 6.0e12,
    .l2SectorBytes = 3.0e12,
    .atomicSectors = 25e9,
    .l2Capacity = 40u << 20,
    .warpIssues = 4,
    .float64Lanes = 32,
    .integerLanes = 64,
    .convertLanes = 64,
    .l1Bytes = 128,
    .tensorFlops = {0, 128, 1024, 2048, 0, 4096, 8192},
    .mmaShare = 1,
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

const NvidiaArch &archOf(const NvidiaGpu &gpu) { return *findNvidiaArch(gpu.capability); }

} // namespace nereid::artifact
