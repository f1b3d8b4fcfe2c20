// Defines the table of AMD GPU generations.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/arch/Archs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace nereid;
using namespace nereid::amd;

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
static constexpr Arch cdna2 = {.name = "gfx90a",
                               .waveSize = 64,
                               .matrixUnit = MatrixUnit::Mfma,
                               .fp8 = Fp8Format::None,
                               .hasXf32 = false,
                               .hasF64Matrix = true,
                               .hasWideInt8 = false,
                               .hasDoubleDepth = false,
                               .hasScaledMatrix = false,
                               .hasBf16Conversion = false,
                               .hasPermlane32Swap = false,
                               .hasPermlane16 = false,
                               .hasVectorFloatAtomic = true,
                               .numRegisters = 512,
                               .maxSharedBytes = 64 * KiB,
                               .numBanks = 32,
                               .ldsLoadBytes = 0,
                               .prefersLdsLoads = false,
                               .bufferFlags = kCdnaBuffer};

static constexpr Arch cdna3() {
  Arch arch = cdna2;
  arch.name = "gfx942", arch.fp8 = Fp8Format::Fnuz, arch.hasXf32 = arch.hasWideInt8 = true;
  arch.ldsLoadBytes = 4;
  return arch;
}

static constexpr Arch cdna4() {
  Arch arch = cdna3();
  arch.name = "gfx950", arch.fp8 = Fp8Format::Ocp, arch.hasXf32 = false;
  arch.hasDoubleDepth = arch.hasScaledMatrix = arch.hasBf16Conversion = arch.hasPermlane32Swap = true;
  arch.maxSharedBytes = 160 * KiB, arch.numBanks = 64;
  arch.ldsLoadBytes = 16, arch.prefersLdsLoads = true;
  return arch;
}

static constexpr Arch rdna3(const char *name) {
  Arch arch = cdna2;
  arch.name = name, arch.waveSize = 32, arch.matrixUnit = MatrixUnit::WmmaReplicated;
  arch.hasF64Matrix = arch.hasVectorFloatAtomic = false, arch.hasPermlane16 = true;
  arch.bufferFlags = kRdnaBuffer;
  arch.numRegisters = 256;
  return arch;
}

/// No matrix instructions: dots are multiply-adds.
static constexpr Arch rdna2(const char *name) {
  Arch arch = rdna3(name);
  arch.matrixUnit = MatrixUnit::None, arch.bufferFlags = kRdna2Buffer;
  return arch;
}

static constexpr Arch rdna4(const char *name) {
  Arch arch = rdna3(name);
  arch.matrixUnit = MatrixUnit::Wmma, arch.fp8 = Fp8Format::Ocp, arch.hasVectorFloatAtomic = true;
  return arch;
}

static constexpr Arch archs[] = {
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

std::string amd::canonicalName(const std::string &name) { return llvm::StringRef(name).split(':').first.str(); }

std::string amd::archNames() {
  return llvm::join(llvm::map_range(archs, [](const Arch &arch) { return std::string(arch.name); }), ", ");
}

std::optional<Arch> amd::findArch(const std::string &name, std::string &reason) {
  const std::string wanted = canonicalName(name);
  for (const Arch &arch : archs)
    if (wanted == arch.name)
      return arch;
  reason = "no code is generated for `" + name + "`; an AMD target is one of " + archNames();
  return std::nullopt;
}
