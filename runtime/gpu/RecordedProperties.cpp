// Fills in properties from the tables of GPUs.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/RecordedProperties.h"

#include "artifact/NvidiaGpus.h"

namespace nereid::runtime {

DeviceProperties propertiesOf(unsigned capability) {
  const artifact::NvidiaGpu &gpu = artifact::nvidiaGpuOf(capability);
  const artifact::NvidiaArch *known = artifact::findNvidiaArch(capability);
  const artifact::NvidiaArch &arch = known ? *known : artifact::nvidiaArchs().front();
  return {.name = "sm_" + std::to_string(capability),
          .multiprocessorCount = gpu.multiprocessors,
          .maxNumRegs = artifact::kRegisterFile,
          .maxSharedMem = arch.maxSharedBytes,
          .warpSize = 32,
          .maxThreadsPerSm = arch.residentThreads,
          .smClockRateKhz = gpu.clockMhz * 1000,
          .memClockRateKhz = gpu.memoryMhz * 1000,
          .memBusWidthBits = gpu.memoryBits,
          .maxThreadsPerBlock = 1024,
          .lastLevelCacheBytes = gpu.l2Capacity};
}

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
