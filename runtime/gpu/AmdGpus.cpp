// Fills in HIP's properties from the table of GPUs.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/AmdGpus.h"

namespace nereid::runtime {

/// HIP's convention: on CDNA `maxNumRegs` is half of a compute unit's vector registers (programs double it).
DeviceProperties propertiesOf(const artifact::AmdGpu &gpu) {
  const artifact::AmdArch &arch = *artifact::findAmdArch(gpu.arch);
  return {.name = std::string(gpu.name),
          .multiprocessorCount = gpu.multiprocessors,
          .maxNumRegs = 65536,
          .maxSharedMem = arch.maxSharedBytes,
          .warpSize = arch.waveSize,
          .maxThreadsPerSm = 2048,
          .smClockRateKhz = gpu.clockMhz * 1000,
          .memClockRateKhz = gpu.memoryMhz * 1000,
          .memBusWidthBits = gpu.memoryBits,
          .maxThreadsPerBlock = 1024,
          .lastLevelCacheBytes = uint64_t{gpu.l2MiB} << 20};
}

} // namespace nereid::runtime
