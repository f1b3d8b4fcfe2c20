// One GPU of each of AMD's architectures: MI210, MI300X, MI355X, RX 7900 XTX, RX 9060 XT.
// SPDX-License-Identifier: MIT
#include "runtime/sim/AmdGpus.h"

using namespace nereid;
using namespace nereid::sim;

//  arch, lanes of a wave, compute units, shared memory, clock, clock and bits of the memory, L2
static constexpr AmdGpu kGpus[] = {
    {"gfx90a", 64, 104, 64 << 10, 1700000, 1600000, 4096, 8 << 20},
    {"gfx942", 64, 304, 64 << 10, 2100000, 1300000, 8192, 4 << 20},
    {"gfx950", 64, 256, 160 << 10, 2400000, 2000000, 8192, 4 << 20},
    {"gfx1100", 32, 96, 64 << 10, 2500000, 1249000, 384, 6 << 20},
    {"gfx1200", 32, 32, 64 << 10, 3130000, 1258000, 128, 4 << 20},
};

std::span<const AmdGpu> nereid::sim::amdGpus() { return kGpus; }

const AmdGpu *nereid::sim::findAmdGpu(std::string_view arch) {
  for (const AmdGpu &gpu : kGpus)
    if (gpu.arch == arch)
      return &gpu;
  return nullptr;
}

runtime::DeviceProperties nereid::sim::propertiesOf(const AmdGpu &gpu) {
  runtime::DeviceProperties known;
  known.name = "simulated " + std::string(gpu.arch);
  known.multiprocessorCount = gpu.computeUnits;
  known.maxNumRegs = 65536;
  known.maxSharedMem = gpu.sharedBytes;
  known.warpSize = gpu.waveLanes;
  known.maxThreadsPerSm = 2048;
  known.maxThreadsPerBlock = 1024;
  known.smClockRateKhz = gpu.clockKhz;
  known.memClockRateKhz = gpu.memoryClockKhz;
  known.memBusWidthBits = gpu.memoryBusBits;
  known.lastLevelCacheBytes = gpu.cacheBytes;
  return known;
}
