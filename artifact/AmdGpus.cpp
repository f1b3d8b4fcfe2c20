// The tables of AMD's generations and GPUs.
// SPDX-License-Identifier: MIT
#include "artifact/AmdGpus.h"

namespace nereid::artifact {

static constexpr uint32_t KiB = 1024;

// "AMD Instinct MI300" instruction set architecture, buffer resource: a format of 0 makes a buffer invalid, so this is
// one of 32 bits (DATA_FORMAT 4, NUM_FORMAT 7), which accesses to raw buffers ignore.
static constexpr uint32_t kCdnaBuffer = 4 << 15 | 7 << 12;
// "RDNA3" and "RDNA4" instruction set architecture, buffer resource: one format of 32 bits (22); OOB_SELECT 3 compares
// the offset with the number of bytes.
static constexpr uint32_t kRdnaBuffer = 3u << 28 | 22 << 12;
// "RDNA2" instruction set architecture, buffer resource: the same, and RESOURCE_LEVEL, which is 1.
static constexpr uint32_t kRdna2Buffer = kRdnaBuffer | 1 << 24;

// "AMD Instinct MI200" instruction set architecture: mfma, 512 registers, LDS of 64 KiB in 32 banks.
static constexpr AmdArch cdna2 = {.name = "gfx90a",
                                  .waveSize = 64,
                                  .matrixUnit = MatrixUnit::Mfma,
                                  .fp8 = Fp8Format::None,
                                  .hasXf32 = false,
                                  .hasF64Matrix = true,
                                  .hasWideInt8 = false,
                                  .hasDoubleDepth = false,
                                  .hasScaledMatrix = false,
                                  .flushesDenormals = true,
                                  .hasBf16Conversion = false,
                                  .hasPermlane32Swap = false,
                                  .hasPermlane16 = false,
                                  .hasVectorFloatAtomic = true,
                                  .numRegisters = 512,
                                  .maxSharedBytes = 64 * KiB,
                                  .numBanks = 32,
                                  .ldsLoadBytes = 0,
                                  .prefersLdsLoads = false,
                                  .bufferFlags = kCdnaBuffer,
                                  .simdRegisters = 512,
                                  .simdWaves = 8,
                                  .unitSharedBytes = 64 * KiB,
                                  .fma = 64,
                                  .special = 16,
                                  .globalBytes = 64,
                                  .matrixF16 = 512,
                                  .matrixF32 = 128,
                                  .matrixF64 = 128};

static constexpr AmdArch cdna3() {
  AmdArch arch = cdna2;
  arch.name = "gfx942", arch.fp8 = Fp8Format::Fnuz, arch.hasXf32 = arch.hasWideInt8 = true;
  arch.flushesDenormals = false;
  arch.ldsLoadBytes = 4;
  arch.matrixF16 = 1024;
  return arch;
}

static constexpr AmdArch cdna4() {
  AmdArch arch = cdna3();
  arch.name = "gfx950", arch.fp8 = Fp8Format::Ocp, arch.hasXf32 = false;
  arch.hasDoubleDepth = arch.hasScaledMatrix = arch.hasBf16Conversion = arch.hasPermlane32Swap = true;
  arch.maxSharedBytes = arch.unitSharedBytes = 160 * KiB, arch.numBanks = 64;
  arch.matrixF16 = 2048, arch.matrixF64 = 64;
  arch.ldsLoadBytes = 16, arch.prefersLdsLoads = true;
  return arch;
}

static constexpr AmdArch rdna3(const char *name) {
  AmdArch arch = cdna2;
  arch.name = name, arch.waveSize = 32, arch.matrixUnit = MatrixUnit::WmmaReplicated;
  arch.hasF64Matrix = arch.hasVectorFloatAtomic = false, arch.hasPermlane16 = true;
  arch.bufferFlags = kRdnaBuffer;
  arch.numRegisters = 256;
  arch.simdRegisters = 1536, arch.simdWaves = 16, arch.unitSharedBytes = 128 * KiB;
  arch.fma = 128, arch.special = 32, arch.globalBytes = 128;
  arch.matrixF16 = 512, arch.matrixF32 = arch.matrixF64 = 0;
  return arch;
}

/// No matrix instructions: dots are multiply-adds.
static constexpr AmdArch rdna2(const char *name) {
  AmdArch arch = rdna3(name);
  arch.matrixUnit = MatrixUnit::None, arch.bufferFlags = kRdna2Buffer;
  arch.simdRegisters = 1024, arch.matrixF16 = 0;
  return arch;
}

static constexpr AmdArch rdna4(const char *name) {
  AmdArch arch = rdna3(name);
  arch.matrixUnit = MatrixUnit::Wmma, arch.fp8 = Fp8Format::Ocp, arch.hasVectorFloatAtomic = true;
  arch.matrixF16 = 1024;
  return arch;
}

static constexpr AmdArch kAmdArchs[] = {
    cdna2,
    cdna3(),
    cdna4(),
    rdna2("gfx1030"),
    rdna2("gfx1031"),
    rdna2("gfx1032"),
    rdna2("gfx1034"),
    rdna2("gfx1035"),
    rdna2("gfx1036"),
    rdna3("gfx1100"),
    rdna3("gfx1101"),
    rdna3("gfx1102"),
    rdna3("gfx1103"),
    rdna3("gfx1150"),
    rdna3("gfx1151"),
    rdna4("gfx1200"),
    rdna4("gfx1201"),
};

std::span<const AmdArch> amdArchs() { return kAmdArchs; }

const AmdArch *findAmdArch(std::string_view name) {
  for (const AmdArch &arch : kAmdArchs)
    if (arch.name == name)
      return &arch;
  return nullptr;
}

// CDNA 2 to 4 and RDNA 2 to 4, AMD's data sheets and white papers: matrix rates from the peaks of the GPUs below.
// From AMD's data sheets and the listings of ROCm's tools; none was measured here.
static constexpr AmdGpu kAmdGpus[] = {
    {"gfx90a", "AMD Instinct MI250X", 110, 1700, 1600, 4096, 8, 1.4e12, 0.8e-6}, // one of its two dies
    {"gfx942", "AMD Instinct MI300X", 304, 2100, 1300, 8192, 4, 4.3e12, 0.8e-6},
    {"gfx950", "AMD Instinct MI355X", 256, 2400, 2000, 8192, 4, 6.5e12, 0.8e-6},
    {"gfx1030", "AMD Radeon RX 6900 XT", 40, 2250, 1000, 256, 4, 0.43e12, 0.45e-6},
    {"gfx1100", "AMD Radeon RX 7900 XTX", 48, 2482, 1249, 384, 6, 0.81e12, 0.45e-6},
    {"gfx1200", "AMD Radeon RX 9060 XT", 16, 3130, 1259, 128, 4, 0.27e12, 0.45e-6},
};

std::span<const AmdGpu> amdGpus() { return kAmdGpus; }

const AmdGpu *findAmdGpu(std::string_view arch) {
  for (const AmdGpu &gpu : kAmdGpus)
    if (gpu.arch == arch)
      return &gpu;
  return nullptr;
}

} // namespace nereid::artifact
