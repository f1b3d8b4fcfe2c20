// Recorded properties of AMD GPUs, from AMD's data sheets and the listings of ROCm's tools; none was measured here.
// SPDX-License-Identifier: MIT
//
// HIP's conventions: on CDNA `maxNumRegs` is half of a compute unit's vector registers (programs double it); on RDNA a
// multiprocessor is a work-group processor of two compute units. An L2 cache is that of one die.
#include "runtime/gpu/AmdGpus.h"

namespace nereid::runtime {

static const AmdGpu kGpus[] = {
    {"gfx90a",
     {.name = "AMD Instinct MI250X", // one of its two dies
      .multiprocessorCount = 110,
      .maxNumRegs = 65536,
      .maxSharedMem = 65536,
      .warpSize = 64,
      .maxThreadsPerSm = 2048,
      .smClockRateKhz = 1700000,
      .memClockRateKhz = 1600000,
      .memBusWidthBits = 4096,
      .maxThreadsPerBlock = 1024,
      .lastLevelCacheBytes = 8 << 20}},
    {"gfx942",
     {.name = "AMD Instinct MI300X",
      .multiprocessorCount = 304,
      .maxNumRegs = 65536,
      .maxSharedMem = 65536,
      .warpSize = 64,
      .maxThreadsPerSm = 2048,
      .smClockRateKhz = 2100000,
      .memClockRateKhz = 1300000,
      .memBusWidthBits = 8192,
      .maxThreadsPerBlock = 1024,
      .lastLevelCacheBytes = 4 << 20}},
    {"gfx950",
     {.name = "AMD Instinct MI355X",
      .multiprocessorCount = 256,
      .maxNumRegs = 65536,
      .maxSharedMem = 163840,
      .warpSize = 64,
      .maxThreadsPerSm = 2048,
      .smClockRateKhz = 2400000,
      .memClockRateKhz = 2000000,
      .memBusWidthBits = 8192,
      .maxThreadsPerBlock = 1024,
      .lastLevelCacheBytes = 4 << 20}},
    {"gfx1030",
     {.name = "AMD Radeon RX 6900 XT",
      .multiprocessorCount = 40,
      .maxNumRegs = 65536,
      .maxSharedMem = 65536,
      .warpSize = 32,
      .maxThreadsPerSm = 2048,
      .smClockRateKhz = 2250000,
      .memClockRateKhz = 1000000,
      .memBusWidthBits = 256,
      .maxThreadsPerBlock = 1024,
      .lastLevelCacheBytes = 4 << 20}},
    {"gfx1100",
     {.name = "AMD Radeon RX 7900 XTX",
      .multiprocessorCount = 48,
      .maxNumRegs = 65536,
      .maxSharedMem = 65536,
      .warpSize = 32,
      .maxThreadsPerSm = 2048,
      .smClockRateKhz = 2482000,
      .memClockRateKhz = 1249000,
      .memBusWidthBits = 384,
      .maxThreadsPerBlock = 1024,
      .lastLevelCacheBytes = 6 << 20}},
    {"gfx1200",
     {.name = "AMD Radeon RX 9060 XT",
      .multiprocessorCount = 16,
      .maxNumRegs = 65536,
      .maxSharedMem = 65536,
      .warpSize = 32,
      .maxThreadsPerSm = 2048,
      .smClockRateKhz = 3130000,
      .memClockRateKhz = 1259000,
      .memBusWidthBits = 128,
      .maxThreadsPerBlock = 1024,
      .lastLevelCacheBytes = 4 << 20}},
};

std::span<const AmdGpu> amdGpus() { return kGpus; }

const AmdGpu *findAmdGpu(std::string_view arch) {
  for (const AmdGpu &gpu : kGpus)
    if (gpu.arch == arch)
      return &gpu;
  return nullptr;
}

} // namespace nereid::runtime
